"""Makes the programs in `interpreter/` from the tests of StableHLO's reference interpreter.

    python interpreter.py CHECKOUT_OF_STABLEHLO [OUT]

The checkout is openxla/stablehlo at 3c9301c116f97fbaf696959a0ede32712aec587b. Needs jax==0.12.0.1 for its
MLIR parser. Each program becomes a module in MLIR's generic form whose `@main` returns the results that
the original checks, then the expected values. The first line of each says how closely the two must agree.
"""

import re
import sys
from pathlib import Path

from jax._src.interpreters import mlir
from jaxlib.mlir import ir

FOLDERS = ["stablehlo/tests/interpret", "stablehlo/tests/interpret/chlo", "stablehlo/tests/math"]
# `check.NAME operands, value or bounds : types`; the dialect itself is not part of JAX.
# Files that test the checks themselves, or the interpreter's own operations.
OTHER = re.compile("check|ulp_difference|printing|probe|api_input")
CHECK = re.compile(r"^\s*check\.(\w+) (.*?) : ([^\n/]*)[^\n]*$", re.MULTILINE | re.DOTALL)
DEFAULT_TOLERANCE = 1e-4


def generic(match):
    """Returns a check in MLIR's generic form, which needs no dialect."""
    name, body, types = match.groups()
    constant = ""
    bound = re.search(r",?\s*(?:tolerance|max_ulp_difference) = ([^ ,]+)", body)
    attributes = []
    if bound:
        attributes.append(f'bound = "{bound.group(1)}"')
        body = body[: bound.start()]
    if name.endswith("_const"):
        operand, value = body.split(",", 1)
        expected = f"%expected{match.start()}"
        constant = f"{expected} = stablehlo.constant {value.strip()} : {types}\n"
        body = f"{operand}, {expected}"
    signature = types if body.count("%") == 1 or ", tensor" in types else f"{types}, {types}"
    return f'{constant}"check.{name}"({body}) {{{", ".join(attributes)}}} : ({signature}) -> ()'


def bound_of(check):
    kind = check.name.removeprefix("check.expect_").removesuffix("_const")
    given = ir.StringAttr(check.attributes["bound"]).value if "bound" in check.attributes else None
    if kind == "close":
        return f"ulps {given}"
    if kind == "almost_eq":
        return f"within {given or DEFAULT_TOLERANCE}"
    return "equal"


def convert(module):
    """Makes `@main` return what the checks compare, and returns their bounds."""
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]
    tested = [f for f in functions if any(op.operation.name.startswith("check.") for op in f.regions[0].blocks[0])]
    if len(tested) != 1:
        raise ValueError("not one function with checks")
    block = tested[0].regions[0].blocks[0]
    operations = list(block.operations)
    checks = [op for op in operations if op.operation.name.startswith("check.")]
    terminator = operations[-1]
    results, expected, bounds = [], [], []
    for check in checks:
        operation = check.operation
        if operation.name == "check.expect_serialized_eq":
            raise ValueError("needs files")
        results.append(operation.operands[0])
        bounds.append(bound_of(operation))
        expected.append(operation.operands[1])
    values = results + expected
    with ir.InsertionPoint(terminator):
        ir.Operation.create("func.return", operands=values)
    terminator.erase()
    for check in checks:
        check.operation.erase()
    name = ir.StringAttr(tested[0].attributes["sym_name"]).value
    inputs = ir.FunctionType(ir.TypeAttr(tested[0].attributes["function_type"]).value).inputs
    if inputs:
        raise ValueError("has arguments without values")
    tested[0].attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, [v.type for v in values]))
    tested[0].attributes["sym_name"] = ir.StringAttr.get("main")
    tested[0].attributes["sym_visibility"] = ir.StringAttr.get("public")
    return name, bounds


def main(checkout, out):
    out.mkdir(exist_ok=True)
    left = []
    for folder in FOLDERS:
        for path in sorted((checkout / folder).glob("*.mlir")):
            if OTHER.match(path.name):
                continue
            cases = []
            for text in path.read_text().split("// -----"):
                if "func.func" not in text:
                    continue
                with mlir.make_ir_context() as context, ir.Location.unknown():
                    context.allow_unregistered_dialects = True
                    try:
                        module = ir.Module.parse(CHECK.sub(generic, text))
                        name, bounds = convert(module)
                        module.operation.verify()
                    except (ValueError, ir.MLIRError) as error:
                        left.append(f"{path.name}: {' '.join(str(error).split())[:300]}")
                        continue
                    if "module @" in text:
                        name = ir.StringAttr(module.operation.attributes["sym_name"]).value
                    printed = module.operation.get_asm(print_generic_op_form=True, use_local_scope=True)
                    cases.append(f"// {name}: {', '.join(bounds)}\n{printed}\n")
            if cases:
                (out / f"{folder.split('/')[-1]}_{path.name}").write_text("// -----\n".join(cases))
    print("\n".join(sorted(left)))
    print(len(left), "programs left out")


if __name__ == "__main__":
    here = Path(__file__).parent
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else here / "interpreter")
