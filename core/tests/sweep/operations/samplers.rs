//! Random numbers: samplers take their parameters from the operands.

use super::{Operation, Results, rows};
use ramie_core::random::*;

pub fn table() -> Vec<Operation> {
    let mut list = Vec::new();
    macro_rules! plain {
        ($($name:literal $f:ident)*) => {
            rows!(list; $( $name |x| $f(&key(0), x.shape(), x.dtype()); )*);
        };
    }
    plain! {
        "random::normal" normal "random::exponential" exponential "random::laplace" laplace
        "random::logistic" logistic "random::cauchy" cauchy "random::maxwell" maxwell
        "random::gumbel" gumbel "random::bits" bits "random::rademacher" rademacher
        "random::uniform" uniform
    }
    macro_rules! with_one {
        ($($name:literal $f:ident)*) => {
            rows!(list; $( $name |x, y| $f(&key(0), y, x.shape(), x.dtype()); )*);
        };
    }
    with_one! {
        "random::gamma" gamma "random::loggamma" loggamma "random::chisquare" chisquare
        "random::t" t "random::generalized_normal" generalized_normal
        "random::lognormal" lognormal "random::pareto" pareto "random::rayleigh" rayleigh
        "random::wald" wald "random::poisson" poisson "random::geometric" geometric
        "random::dirichlet" dirichlet
    }
    macro_rules! with_two {
        ($($name:literal $f:ident)*) => {
            rows!(list; $( $name |x, y, z| $f(&key(0), y, z, x.shape(), x.dtype()); )*);
        };
    }
    with_two! {
        "random::beta" beta "random::f" f "random::truncated_normal" truncated_normal
        "random::weibull_min" weibull_min "random::double_sided_maxwell" double_sided_maxwell
        "random::binomial" binomial
    }
    macro_rules! approximate {
        ($($name:literal $f:ident)*) => {
            rows!(list; $(
                $name |x, y| $f(&key(0), y, x.shape(), x.dtype(), SamplingMethod::Approximate);
            )*);
        };
    }
    approximate! {
        "random::gamma_with" gamma_with "random::loggamma_with" loggamma_with
        "random::chisquare_with" chisquare_with "random::poisson_with" poisson_with
    }
    of_other_forms(&mut list);
    keys(&mut list);
    list
}

fn of_other_forms(t: &mut Vec<Operation>) {
    rows!(t;
        "random::gumbel_with" |x| {
            gumbel_with(&key(0), x.shape(), x.dtype(), GumbelMode::default())
        };
        "random::beta_with" |x, y, z| {
            beta_with(&key(0), y, z, x.shape(), x.dtype(), SamplingMethod::Approximate)
        };
        "random::normal/huge" |x| normal(&key(0), &[usize::MAX / 2, 3], x.dtype());
        "random::bits/huge" |x| bits(&key(0), &[usize::MAX / 2, 3], x.dtype());
        "random::triangular" |x, y, z| triangular(&key(0), x, y, z, x.shape(), x.dtype());
        "random::bernoulli" |x| bernoulli(&key(0), x, x.shape());
        "random::bernoulli_with" |x| {
            bernoulli_with(&key(0), x, x.shape(), BernoulliMode::default())
        };
        "random::randint" |x, y, z| randint(&key(0), x.shape(), y, z, x.dtype());
        "random::randint/empty" |x| randint(&key(0), x.shape(), 5, 5, x.dtype());
        "random::uniform_range" |x, y, z| uniform_range(&key(0), x.shape(), x.dtype(), y, z);
        "random::multinomial" |x, y| multinomial(&key(0), 5, y, x.dtype());
        "random::permutation" |x| permutation(&key(0), x.clone());
        "random::permutation_with" |x| permutation_with(&key(0), x, Permutation::new(0).independent());
        "random::choice" |x| choice(&key(0), x.clone(), &[2]);
        "random::choice/weighted" |x, y| {
            Choice::of(x.clone()).p(y).without_replacement().draw(&key(0), &[2])
        };
        "random::categorical" |x| categorical(&key(0), x, -1);
        "random::ball" |x| ball(&key(0), 3, 2.0, x.shape(), x.dtype());
        "random::orthogonal" |x| orthogonal(&key(0), 2, 3, x.shape(), x.dtype());
        "random::multivariate_normal" |x, y| multivariate_normal(
            &key(0), x, y, &[2], x.dtype(), CovarianceRoot::default());
    );
}

fn keys(t: &mut Vec<Operation>) {
    rows!(t;
        "random::key" |x| key_data(&key(x.ndim() as u64)).clone();
        "random::key_with" |_x| key_data(&key_with(0, KeyImpl::Rbg)).clone();
        "random::wrap_key_data" |x| key_data(&wrap_key_data(x.clone())).clone();
        "random::wrap_key_data_with" |x| {
            key_data(&wrap_key_data_with(x.clone(), KeyImpl::Rbg).fold_in(1)).clone()
        };
        "random::Key::fold_in" |x| key_data(&key(0).fold_in(x)).clone();
        "random::Key::split_array" |x| key_data(&key(0).split_array(x.shape())).clone();
    );
}
