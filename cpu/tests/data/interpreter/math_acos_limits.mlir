// main: ulps 1, ulps 1
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<f64>, tensor<complex<f64>>, tensor<f64>, tensor<complex<f64>>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<-1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %1 = "stablehlo.constant"() <{value = dense<(-1.000000e+00,0.000000e+00)> : tensor<complex<f64>>}> : () -> tensor<complex<f64>>
    %2 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %3 = "stablehlo.constant"() <{value = dense<3.1415926535897931> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.complex"(%3, %2) : (tensor<f64>, tensor<f64>) -> tensor<complex<f64>>
    %5 = "chlo.acos"(%0) : (tensor<f64>) -> tensor<f64>
    %6 = "chlo.acos"(%1) : (tensor<complex<f64>>) -> tensor<complex<f64>>
    "func.return"(%5, %6, %3, %4) : (tensor<f64>, tensor<complex<f64>>, tensor<f64>, tensor<complex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
