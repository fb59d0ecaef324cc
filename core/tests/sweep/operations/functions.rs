//! Functions of arrays: joins, convolutions, linear algebra, Fourier transforms,
//! images and distributions.

use super::{Operation, Results, rows};
use ramie_core::config::default_matmul_precision;
use ramie_core::fft::{Fft, Norm};
use ramie_core::image::ResizeMethod;
use ramie_core::lax::{
    ConvLayout, Padding, Precision, associative_scan, associative_scan_with, avg_pool,
    avg_pool_with, clamp, conv, conv_general_dilated, conv_general_dilated_local,
    conv_general_dilated_patches, conv_transpose, conv_with_general_padding, dot_product_attention,
    max_pool, min_pool, optimization_barrier, platform_dependent, pool, reduce, reduce_window,
    select_and_scatter, select_n, sort,
};
use ramie_core::linalg::*;
use ramie_core::numpy::{
    BoundsMode, Indexing, Interpolation, QuantileMethod, block, broadcast_arrays, column_stack,
    complex, dstack, einsum_with, hstack, ix_, lexsort, meshgrid, meshgrid_with, mgrid,
    ravel_multi_index, select, vectorize, vstack,
};
use ramie_core::options::{
    AssociativeScanOptions, Attention, Contraction, ConvTranspose, Convolution, Covariance,
    ExcludePadding, Histogram, Quantile, Reduction, Segments, Standardize, Unique, Window,
};
use ramie_core::*;

pub fn table() -> Vec<Operation> {
    let mut t = Vec::new();
    of_several_arrays(&mut t);
    windows(&mut t);
    matrices(&mut t);
    equations(&mut t);
    transforms(&mut t);
    distributions(&mut t);
    builders(&mut t);
    t
}

fn of_several_arrays(t: &mut Vec<Operation>) {
    rows!(t;
        "where_" |x, y, z| where_(x.ne(0), y, z);
        "clamp" |x, y, z| clamp(y, x, z);
        "select_n" |x, y, z| select_n(&x.ne(0), &[y.clone(), z.clone()]);
        "where_/raw" |x, y, z| where_(x, y, z);
        "complex" |x, y| complex(x, y);
        "concatenate" |x, y| concatenate(&[x, y], 0);
        "stack" |x, y| stack(&[x, y], 0);
        "hstack" |x, y| hstack(&[x, y]);
        "vstack" |x, y| vstack(&[x, y]);
        "dstack" |x, y| dstack(&[x, y]);
        "column_stack" |x, y| column_stack(&[x, y]);
        "block" |x, y| block(&[vec![x.clone(), y.clone()]]);
        "broadcast_arrays" |x, y| broadcast_arrays(&[x, y]);
        "select" |x, y, z| select(&[x.ne(0)], std::slice::from_ref(y), z);
        "meshgrid" |x, y| meshgrid(&[x.clone(), y.clone()]);
        "meshgrid_with" |x, y| meshgrid_with(&[x.clone(), y.clone()], Indexing::Ij);
        "mgrid" |x, y| mgrid(&[x.clone(), y.clone()]);
        "ix_" |x, y| ix_(&[x.clone(), y.clone()]);
        "lexsort" |x, y| lexsort(&[x, y], -1);
        "sort/several" |x, y| sort(&[x.clone(), y.clone()], 0, 1);
        "ravel_multi_index" |x, y| {
            ravel_multi_index(&[x.clone(), y.clone()], &[2, 3], BoundsMode::Clip)
        };
        "ravel_multi_index/huge" |x, y| {
            ravel_multi_index(&[x.clone(), y.clone()], &[usize::MAX; 2], BoundsMode::Wrap)
        };
        "einsum" |x, y| einsum("...,...->...", &[x, y]);
        "einsum/trace" |x| einsum("ii", &[x]);
        "einsum_with" |x, y| einsum_with("ij,jk", &[x, y], Contraction::new());
        "default_matmul_precision" |x, y| {
            default_matmul_precision(Precision::HIGHEST, || x.matmul(y))
        };
        "associative_scan" |x| {
            associative_scan(|a: Array, b: Array| a + b, x.clone())
        };
        "associative_scan_with" |x| {
            let options = AssociativeScanOptions { reverse: true, axis: -1 };
            associative_scan_with(|a: Array, b: Array| a + b, x.clone(), options)
        };
        "reduce/several" |x, y| reduce(
            std::slice::from_ref(x), &[y.ravel().max()], |a, b| vec![&a[0] + &b[0]], &[0]);
        "reduce/places" |x| {
            let places = Array::iota(x.shape(), 0, DType::I32);
            let starts = [Array::scalar(0, x.dtype()), Array::from(0)];
            reduce(&[x.clone(), places], &starts, |a, b| vec![a[0].maximum(&b[0]), &a[1] + &b[1]], &[0])
        };
        "vectorize" |x, y| {
            vectorize("(n),(n)->()", |a| vec![a[0].dot(&a[1])])(&[x.clone(), y.clone()])
        };
        "optimization_barrier" |x| optimization_barrier(x.clone());
        "checkpoint_name" |x| checkpoint_name(x.clone(), "name");
        "platform_dependent" |x| platform_dependent(x.clone(), &[], |x| x);
    );
}

fn windows(t: &mut Vec<Operation>) {
    use Padding::{Same, Valid};
    rows!(t;
        "conv" |x, y| conv(x, y, &[1, 1], Same);
        "conv/empty" |x, y| conv(x, y, &[1, 1], Valid);
        "conv/stride" |x, y| conv(x, y, &[usize::MAX, 0], Valid);
        "conv_general_dilated" |x, y| conv_general_dilated(x, y, &Convolution::new());
        "conv_with_general_padding" |x, y| conv_with_general_padding(
            x, y, &[1, 1], [(1, 1), (0, -1)], &[2, 1], &[1, 2]);
        "conv_with_general_padding/huge" |x, y| conv_with_general_padding(
            x, y, &[1, 1], [(isize::MAX, isize::MAX), (isize::MIN, 0)], &[usize::MAX, 1], &[1, 2]);
        "conv_general_dilated_patches" |x| {
            conv_general_dilated_patches(x, &[2, 2], &Convolution::new())
        };
        "conv_general_dilated_patches/huge" |x| {
            conv_general_dilated_patches(x, &[usize::MAX, 2], &Convolution::new())
        };
        "conv_general_dilated_local" |x, y| {
            conv_general_dilated_local(x, y, &[2, 2], &Convolution::new())
        };
        "conv_transpose" |x, y| conv_transpose(x, y, &ConvTranspose::new());
        "conv_transpose/huge" |x, y| {
            let how = ConvTranspose::new().strides(&[usize::MAX, 1]).rhs_dilation(&[usize::MAX, 1]);
            conv_transpose(x, y, &how.layout(ConvLayout::ChannelsFirst))
        };
        "max_pool/huge" |x| max_pool(x, &[usize::MAX, 2], &[usize::MAX, 1], Same);
        "pool" |x| pool(x, 0, |a, b| a + b, &[2, 2], &[1, 1], Valid);
        "max_pool" |x| max_pool(x, &[2, 2], &[1, 1], Same);
        "min_pool" |x| min_pool(x, &[2, 2], &[2, 2], Valid);
        "avg_pool_with" |x| avg_pool_with(x, &[2, 2], &[1, 1], Same, ExcludePadding);
        "avg_pool" |x| avg_pool(x, &[0, 2], &[0, 1], Same);
        "reduce_window/several" |x, y| reduce_window(
            std::slice::from_ref(x), &[y.ravel().max()], |a, b| vec![&a[0] + &b[0]],
            &Window::new(&vec![1; x.ndim()]));
        "reduce_window/places" |x| {
            let places = Array::iota(x.shape(), 0, DType::I32);
            let starts = [Array::scalar(0, x.dtype()), Array::from(0)];
            reduce_window(
                &[x.clone(), places], &starts, |a, b| vec![a[0].maximum(&b[0]), &a[1] + &b[1]],
                &Window::new(&vec![1; x.ndim()]))
        };
        "select_and_scatter" |x, y| select_and_scatter(
            x, y, 0, |a, b| a.ge(b), |a, b| a + b, &Window::new(&vec![1; x.ndim()]));
        "dot_product_attention" |x, y, z| dot_product_attention(x, y, z);
        "image::resize" |x| image::resize(x, &vec![5; x.ndim()], ResizeMethod::Linear);
        "image::resize/nearest" |x| image::resize(x, &vec![0; x.ndim()], ResizeMethod::Nearest);
        "image::resize/cubic" |x| {
            image::resize(x, &vec![2; x.ndim()], ResizeMethod::Cubic.without_antialias())
        };
        "image::scale_and_translate" |x| image::scale_and_translate(
            x, x.shape(), &[0], Array::from([2.0]), Array::from([0.5]), ResizeMethod::Lanczos3);
    );
}

fn matrices(t: &mut Vec<Operation>) {
    rows!(t;
        "linalg::cholesky" |x| cholesky(x);
        "linalg::cholesky_with" |x| cholesky_with(x, CholeskyFactor::new().upper().unsymmetrized());
        "linalg::geqrf" |x| geqrf(x);
        "linalg::householder_product" |x| householder_product(x, &x.diagonal(0));
        "linalg::qr" |x| qr(x);
        "linalg::qr_with" |x| qr_with(x, QrMode::Complete);
        "linalg::eigh" |x| eigh(x);
        "linalg::eigh_with" |x| eigh_with(x, Triangle::Upper);
        "linalg::eigvalsh" |x| eigvalsh(x);
        "linalg::svd" |x| { let f = svd(x); [f.u, f.s, f.vt] };
        "linalg::svdvals" |x| svdvals(x);
        "linalg::svd_with" |x| { let f = svd_with(x, SvdMode::Hermitian); [f.u, f.s, f.vt] };
        "linalg::svdvals_with" |x| svdvals_with(x, SvdMode::Hermitian);
        "linalg::slogdet" |x| slogdet(x);
        "linalg::det" |x| det(x);
        "linalg::multi_dot" |x, y, z| multi_dot(&[x, y, z]);
        "linalg::diagonal" |x| linalg::diagonal(x, 0);
        "linalg::diagonal/far" |x| linalg::diagonal(x, isize::MIN);
        "linalg::trace" |x| linalg::trace(x, 1);
        "linalg::block_diag" |x, y| block_diag(&[x, y]);
        "linalg::toeplitz" |x, y| toeplitz(x, y);
        "linalg::expm" |x| expm(x);
        "linalg::pinv" |x| pinv(x);
        "linalg::pinv_with" |x| pinv_with(x, Cutoff::from(1e-3).hermitian());
        "linalg::matrix_rank" |x| matrix_rank(x);
        "linalg::matrix_rank_with" |x| matrix_rank_with(x, Cutoff::new().hermitian());
        "linalg::tensorinv" |x| tensorinv(x, 1);
        "linalg::matrix_power" |x| matrix_power(x, 3);
        "linalg::matrix_power/-1" |x| matrix_power(x, -1);
        "linalg::norm" |x| linalg::norm(x, 2.0);
        "linalg::norm_over" |x| linalg::norm_over(x, 2.0, 0);
        "linalg::norm_over/nuclear" |x| linalg::norm_over(x, NormOrder::Nuclear, Reduction::over([0, 1]).keepdims());
        "linalg::vector_norm" |x| vector_norm(x, 1.0, 0);
        "linalg::vector_norm/inf" |x| vector_norm(x, f64::INFINITY, Reduction::over(0).keepdims());
        "linalg::matrix_norm" |x| matrix_norm(x);
        "linalg::matrix_norm_with" |x| matrix_norm_with(x, 2.0);
        "linalg::cond" |x| linalg::cond(x, 2.0);
        "linalg::cond/-inf" |x| linalg::cond(x, f64::NEG_INFINITY);
        "linalg::inv" |x| inv(x);
    );
}

fn equations(t: &mut Vec<Operation>) {
    rows!(t;
        "linalg::triangular_solve" |x, y| triangular_solve(x, y, TriangularSolve::new().left_side());
        "linalg::lstsq" |x, y| { let l = lstsq(x, y); [l.x, l.residuals, l.rank, l.s] };
        "linalg::lstsq_with" |x, y| { let l = lstsq_with(x, y, 1e-3); [l.x, l.residuals, l.rank, l.s] };
        "linalg::tensorsolve" |x, y| tensorsolve(x, y);
        "linalg::lu" |x| { let f = lu(x); [f.lu, f.pivots, f.permutation] };
        "linalg::lu_pivots_to_permutation" |x| lu_pivots_to_permutation(x, 5);
        "linalg::lu_solve" |x, y| lu_solve(&lu(x), y);
        "linalg::lu_solve_with" |x, y| lu_solve_with(&lu(x), y, Transposed);
        "linalg::solve" |x, y| solve(x, y);
        "linalg::solve_triangular" |x, y| solve_triangular(x, y);
        "linalg::solve_triangular_with" |x, y| solve_triangular_with(x, y, TriangularSolve::new().lower());
        "linalg::cho_factor" |x| cho_factor(x);
        "linalg::cho_factor_with" |x| cho_factor_with(x, Triangle::Lower);
        "linalg::cho_solve" |x, y| cho_solve(x, y);
        "linalg::cho_solve_with" |x, y| cho_solve_with(x, y, Triangle::Lower);
        "linalg::tridiagonal_solve" |x, y, z| tridiagonal_solve(x, y, z, &x.expand_dims(&[-1]));
        "linalg::cg" |x, y| cg(|v: Array| y * v, x.clone());
        "linalg::cg_with" |x| cg_with(|v: Array| v * 2, x.clone(), |v| v, Iteration::default());
        "linalg::bicgstab" |x| bicgstab(|v: Array| v * 2, x.clone());
        "linalg::bicgstab_with" |x| {
            bicgstab_with(|v: Array| v * 2, x.clone(), |v| v, Iteration::default())
        };
        "linalg::gmres" |x| gmres(|v: Array| v * 2, x.clone());
        "linalg::gmres_with" |x| {
            gmres_with(|v: Array| v * 2, x.clone(), |v| v, 3, Iteration::default())
        };
    );
}

fn transforms(t: &mut Vec<Operation>) {
    macro_rules! transforms {
        ($(($one:literal $f:ident $one_with:literal $fw:ident
            $several:literal $g:ident $several_with:literal $gw:ident
            $two:literal $h:ident $two_with:literal $hw:ident))*) => {
            rows!(t; $(
                $one |x| fft::$f(x);
                $one_with |x| fft::$fw(x, Fft::new().lengths(&[7]));
                $several |x| fft::$g(x);
                $several_with |x| fft::$gw(x, Norm::Ortho);
                $two |x| fft::$h(x);
                $two_with |x| fft::$hw(x, Norm::Forward);
            )*);
        };
    }
    transforms! {
        ("fft::fft" fft "fft::fft_with" fft_with "fft::fftn" fftn "fft::fftn_with" fftn_with
            "fft::fft2" fft2 "fft::fft2_with" fft2_with)
        ("fft::ifft" ifft "fft::ifft_with" ifft_with "fft::ifftn" ifftn "fft::ifftn_with" ifftn_with
            "fft::ifft2" ifft2 "fft::ifft2_with" ifft2_with)
        ("fft::rfft" rfft "fft::rfft_with" rfft_with "fft::rfftn" rfftn "fft::rfftn_with" rfftn_with
            "fft::rfft2" rfft2 "fft::rfft2_with" rfft2_with)
        ("fft::irfft" irfft "fft::irfft_with" irfft_with "fft::irfftn" irfftn "fft::irfftn_with" irfftn_with
            "fft::irfft2" irfft2 "fft::irfft2_with" irfft2_with)
    }
    rows!(t;
        "fft::fft_with/huge" |x| fft::fft_with(x, Fft::new().lengths(&[usize::MAX]));
        "fft::irfft_with/huge" |x| fft::irfft_with(x, Fft::new().lengths(&[usize::MAX]));
        "fft::hfft" |x| fft::hfft(x);
        "fft::hfft_with" |x| fft::hfft_with(x, Norm::Ortho);
        "fft::ihfft" |x| fft::ihfft(x);
        "fft::ihfft_with" |x| fft::ihfft_with(x, Fft::new().lengths(&[0]));
        "fft::fftfreq" |x| fft::fftfreq(x.ndim(), 0.5, x.dtype());
        "fft::rfftfreq" |x| fft::rfftfreq(x.ndim(), 0.0, x.dtype());
        "fft::fftshift" |x| fft::fftshift(x);
        "fft::fftshift_with" |x| fft::fftshift_with(x, &[0]);
        "fft::ifftshift" |x| fft::ifftshift(x);
        "fft::ifftshift_with" |x| fft::ifftshift_with(x, &[0]);
    );
}

fn distributions(t: &mut Vec<Operation>) {
    macro_rules! distributions {
        ($($name:literal $module:ident $f:ident)*) => {
            rows!(t; $( $name |x, y, z| stats::$module::$f(x, y, z); )*);
        };
    }
    distributions! {
        "stats::cauchy::logpdf" cauchy logpdf
        "stats::cauchy::pdf" cauchy pdf
        "stats::cauchy::cdf" cauchy cdf
        "stats::cauchy::logcdf" cauchy logcdf
        "stats::cauchy::sf" cauchy sf
        "stats::cauchy::logsf" cauchy logsf
        "stats::cauchy::ppf" cauchy ppf
        "stats::cauchy::isf" cauchy isf
        "stats::expon::logpdf" expon logpdf
        "stats::expon::pdf" expon pdf
        "stats::expon::cdf" expon cdf
        "stats::expon::logcdf" expon logcdf
        "stats::expon::sf" expon sf
        "stats::expon::logsf" expon logsf
        "stats::expon::ppf" expon ppf
        "stats::laplace::logpdf" laplace logpdf
        "stats::laplace::pdf" laplace pdf
        "stats::laplace::cdf" laplace cdf
        "stats::logistic::logpdf" logistic logpdf
        "stats::logistic::pdf" logistic pdf
        "stats::logistic::cdf" logistic cdf
        "stats::logistic::sf" logistic sf
        "stats::logistic::ppf" logistic ppf
        "stats::logistic::isf" logistic isf
        "stats::norm::logpdf" norm logpdf
        "stats::norm::pdf" norm pdf
        "stats::norm::cdf" norm cdf
        "stats::norm::logcdf" norm logcdf
        "stats::norm::sf" norm sf
        "stats::norm::logsf" norm logsf
        "stats::norm::ppf" norm ppf
        "stats::norm::isf" norm isf
        "stats::uniform::logpdf" uniform logpdf
        "stats::uniform::pdf" uniform pdf
        "stats::uniform::cdf" uniform cdf
        "stats::uniform::ppf" uniform ppf
    }
    rows!(t;
        "stats::bernoulli::logpmf" |x, y| stats::bernoulli::logpmf(x, y, 0);
        "stats::bernoulli::pmf" |x, y| stats::bernoulli::pmf(x, y, 0);
        "stats::beta::logpdf" |x, y, z| stats::beta::logpdf(x, y, z, 0, 1);
        "stats::beta::pdf" |x, y, z| stats::beta::pdf(x, y, z, 0, 1);
        "stats::beta::cdf" |x, y, z| stats::beta::cdf(x, y, z, 0, 1);
        "stats::beta::logcdf" |x, y, z| stats::beta::logcdf(x, y, z, 0, 1);
        "stats::beta::sf" |x, y, z| stats::beta::sf(x, y, z, 0, 1);
        "stats::beta::logsf" |x, y, z| stats::beta::logsf(x, y, z, 0, 1);
        "stats::betabinom::logpmf" |x, y, z| stats::betabinom::logpmf(x, y, z, 1, 0);
        "stats::betabinom::pmf" |x, y, z| stats::betabinom::pmf(x, y, z, 1, 0);
        "stats::binom::logpmf" |x, y, z| stats::binom::logpmf(x, y, z, 0);
        "stats::binom::pmf" |x, y, z| stats::binom::pmf(x, y, z, 0);
        "stats::chi2::logpdf" |x, y, z| stats::chi2::logpdf(x, y, z, 1);
        "stats::chi2::pdf" |x, y, z| stats::chi2::pdf(x, y, z, 1);
        "stats::chi2::cdf" |x, y, z| stats::chi2::cdf(x, y, z, 1);
        "stats::chi2::logcdf" |x, y, z| stats::chi2::logcdf(x, y, z, 1);
        "stats::chi2::sf" |x, y, z| stats::chi2::sf(x, y, z, 1);
        "stats::chi2::logsf" |x, y, z| stats::chi2::logsf(x, y, z, 1);
        "stats::dirichlet::logpdf" |x, y| stats::dirichlet::logpdf(x, y.ravel());
        "stats::dirichlet::pdf" |x, y| stats::dirichlet::pdf(x, y.ravel());
        "stats::gamma::logpdf" |x, y, z| stats::gamma::logpdf(x, y, z, 1);
        "stats::gamma::pdf" |x, y, z| stats::gamma::pdf(x, y, z, 1);
        "stats::gamma::cdf" |x, y, z| stats::gamma::cdf(x, y, z, 1);
        "stats::gamma::logcdf" |x, y, z| stats::gamma::logcdf(x, y, z, 1);
        "stats::gamma::sf" |x, y, z| stats::gamma::sf(x, y, z, 1);
        "stats::gamma::logsf" |x, y, z| stats::gamma::logsf(x, y, z, 1);
        "stats::gennorm::logpdf" |x, y| stats::gennorm::logpdf(x, y);
        "stats::gennorm::pdf" |x, y| stats::gennorm::pdf(x, y);
        "stats::gennorm::cdf" |x, y| stats::gennorm::cdf(x, y);
        "stats::geom::logpmf" |x, y| stats::geom::logpmf(x, y, 0);
        "stats::geom::pmf" |x, y| stats::geom::pmf(x, y, 0);
        "stats::gumbel_l::logpdf" |x, y, z| stats::gumbel_l::logpdf(x, y, z);
        "stats::gumbel_l::pdf" |x, y, z| stats::gumbel_l::pdf(x, y, z);
        "stats::gumbel_l::cdf" |x, y, z| stats::gumbel_l::cdf(x, y, z);
        "stats::gumbel_l::logcdf" |x, y, z| stats::gumbel_l::logcdf(x, y, z);
        "stats::gumbel_l::sf" |x, y, z| stats::gumbel_l::sf(x, y, z);
        "stats::gumbel_l::logsf" |x, y, z| stats::gumbel_l::logsf(x, y, z);
        "stats::gumbel_l::ppf" |x, y, z| stats::gumbel_l::ppf(x, y, z);
        "stats::gumbel_r::logpdf" |x, y, z| stats::gumbel_r::logpdf(x, y, z);
        "stats::gumbel_r::pdf" |x, y, z| stats::gumbel_r::pdf(x, y, z);
        "stats::gumbel_r::cdf" |x, y, z| stats::gumbel_r::cdf(x, y, z);
        "stats::gumbel_r::logcdf" |x, y, z| stats::gumbel_r::logcdf(x, y, z);
        "stats::gumbel_r::sf" |x, y, z| stats::gumbel_r::sf(x, y, z);
        "stats::gumbel_r::logsf" |x, y, z| stats::gumbel_r::logsf(x, y, z);
        "stats::gumbel_r::ppf" |x, y, z| stats::gumbel_r::ppf(x, y, z);
        "stats::multinomial::logpmf" |x, y, z| stats::multinomial::logpmf(x, y.sum(), z);
        "stats::multinomial::pmf" |x, y, z| stats::multinomial::pmf(x, y.sum(), z);
        "stats::multivariate_normal::logpdf" |x, y| stats::multivariate_normal::logpdf(x, y, 1);
        "stats::multivariate_normal::pdf" |x, y| stats::multivariate_normal::pdf(x, y, 1);
        "stats::nbinom::logpmf" |x, y, z| stats::nbinom::logpmf(x, y, z, 0);
        "stats::nbinom::pmf" |x, y, z| stats::nbinom::pmf(x, y, z, 0);
        "stats::pareto::logpdf" |x, y, z| stats::pareto::logpdf(x, y, z, 1);
        "stats::pareto::pdf" |x, y, z| stats::pareto::pdf(x, y, z, 1);
        "stats::pareto::cdf" |x, y, z| stats::pareto::cdf(x, y, z, 1);
        "stats::pareto::logcdf" |x, y, z| stats::pareto::logcdf(x, y, z, 1);
        "stats::pareto::sf" |x, y, z| stats::pareto::sf(x, y, z, 1);
        "stats::pareto::logsf" |x, y, z| stats::pareto::logsf(x, y, z, 1);
        "stats::pareto::ppf" |x, y, z| stats::pareto::ppf(x, y, z, 1);
        "stats::poisson::logpmf" |x, y| stats::poisson::logpmf(x, y, 0);
        "stats::poisson::pmf" |x, y| stats::poisson::pmf(x, y, 0);
        "stats::poisson::cdf" |x, y| stats::poisson::cdf(x, y, 0);
        "stats::t::logpdf" |x, y, z| stats::t::logpdf(x, y, z, 1);
        "stats::t::pdf" |x, y, z| stats::t::pdf(x, y, z, 1);
        "stats::truncnorm::logpdf" |x, y, z| stats::truncnorm::logpdf(x, y, z, 0, 1);
        "stats::truncnorm::pdf" |x, y, z| stats::truncnorm::pdf(x, y, z, 0, 1);
        "stats::truncnorm::cdf" |x, y, z| stats::truncnorm::cdf(x, y, z, 0, 1);
        "stats::truncnorm::logcdf" |x, y, z| stats::truncnorm::logcdf(x, y, z, 0, 1);
        "stats::truncnorm::sf" |x, y, z| stats::truncnorm::sf(x, y, z, 0, 1);
        "stats::truncnorm::logsf" |x, y, z| stats::truncnorm::logsf(x, y, z, 0, 1);
        "stats::vonmises::logpdf" |x, y| stats::vonmises::logpdf(x, y);
        "stats::vonmises::pdf" |x, y| stats::vonmises::pdf(x, y);
        "stats::wrapcauchy::logpdf" |x, y| stats::wrapcauchy::logpdf(x, y);
        "stats::wrapcauchy::pdf" |x, y| stats::wrapcauchy::pdf(x, y);
        "stats::bernoulli::cdf" |x, y| stats::bernoulli::cdf(x, y);
        "stats::bernoulli::ppf" |x, y| stats::bernoulli::ppf(x, y);
        "stats::poisson::entropy" |x| stats::poisson::entropy(x);
        "stats::mode" |x| stats::mode(x, 0);
        "stats::sem" |x| stats::sem(x, 0);
        "stats::rankdata" |x| stats::rankdata(x);
        "stats::rankdata_with" |x| stats::rankdata_with(x, stats::Rank { method: stats::RankMethod::Dense, axis: Some(0) });
        "stats::gaussian_kde" |x| stats::gaussian_kde(x).covariance;
        "stats::gaussian_kde_with" |x| stats::gaussian_kde_with(x, stats::GaussianKdeOptions::default()).weights;
    );
}

fn builders(t: &mut Vec<Operation>) {
    rows!(t;
        "Quantile" |x, y| x.quantile_over(0.5, Quantile::all().weights(y).method(QuantileMethod::InvertedCdf));
        "Histogram" |x, y| Histogram::new(3).weights(y).density().of(x);
        "Histogram/edges" |x, y| Histogram::with_edges(y).of(x);
        "segment_softmax" |x, y| x.segment_softmax(&y.ravel().slice_in_dim(0, x.shape()[0], 1, 0), 2);
        "Segments" |x, y| Segments::new(2).bucket_size(2).sum(x, y);
        "Covariance" |x, y| Covariance::new().and(y).ddof(0.0).of(x);
        "Covariance/correlation" |x| Covariance::new().columns().correlation_of(x);
        "Covariance/frequencies" |x, y| Covariance::new().frequencies(y).of(x);
        "Interpolation" |x, y, z| Interpolation::new().period(2.0).of(x, y, z);
        "Interpolation/extrapolate" |x, y, z| Interpolation::new().extrapolate().of(x, y, z);
        "Standardize" |x, y| Standardize::over(&[0]).mask(&y.ne(0)).of(x);
        "Unique" |x| Unique::new().axis(0).of(x).values;
        "Unique/sized" |x| Unique::new().size(3).fill_value(0).of(x).values;
        "Attention" |x, y, z| Attention::new().causal().of(x, y, z);
        "Attention/blockwise" |x, y, z| Attention::new().blockwise(2).of(x, y, z);
        "Reduction" |x, y| x.var_over(Reduction::all().mask(&y.ne(0)).ddof(1.0).dtype(DType::F64));
        "Reduction/initial" |x, y| x.max_over(Reduction::all().initial(y.ravel().max()));
    );
}
