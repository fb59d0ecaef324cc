//! Optimizers from more recent papers (`optax.contrib`).

mod acprop;
mod ademamix;
mod adopt;
mod cocob;
mod complex_valued;
mod dog;
mod galore;
mod learning_rate_free;
mod madgrad;
mod mars;
mod mechanic;
mod momo;
mod muon;
mod plateau;
mod privacy;
mod sam;
mod schedule_free;
mod sophia;

pub use crate::base::dimension_numbers::WeightDimensionNumbers;
pub use acprop::{Acprop, ScaleByAcprop, acprop, scale_by_acprop};
pub use ademamix::{
    Ademamix, ScaleByAdemamix, ScaleByAdemamixState, ScaleBySimplifiedAdemamix,
    ScaleBySimplifiedAdemamixState, SimplifiedAdemamix, ademamix, scale_by_ademamix,
    scale_by_simplified_ademamix, simplified_ademamix,
};
pub use adopt::{Adopt, ScaleByAdopt, adopt, scale_by_adopt};
pub use cocob::{Cocob, CocobState, ScaleByCocob, cocob, scale_by_cocob};
pub use complex_valued::{SplitRealAndImaginaryState, split_real_and_imaginary};
pub use dog::{
    Dog, DogInit, DogState, Dowg, DowgState, ScaleByDog, ScaleByDowg, dog, dowg, scale_by_dog,
    scale_by_dowg,
};
pub use galore::{GaLore, GaLoreState, ScaleByGalore, galore, scale_by_galore};
pub use learning_rate_free::{
    DadaptAdamW, DadaptAdamWState, Prodigy, ProdigyState, dadapt_adamw, prodigy,
};
pub use madgrad::{Madgrad, MadgradState, ScaleByMadgrad, madgrad, scale_by_madgrad};
pub use mars::{Mars, ScaleByMars, ScaleByMarsState, mars, scale_by_mars};
pub use mechanic::{MechanicState, Mechanize, mechanize};
pub use momo::{Momo, MomoAdam, MomoAdamState, MomoState, momo, momo_adam};
pub use muon::{
    Muon, MuonState, NsCoefficients, Preconditioning, ScaleByMuon, muon,
    orthogonalize_via_newton_schulz, scale_by_muon,
};
pub use plateau::{ReduceLrOnPlateauState, ReduceOnPlateau, reduce_on_plateau};
pub use privacy::{
    DifferentiallyPrivateAggregateState, Dpsgd, differentially_private_aggregate, dpsgd,
};
pub use sam::{Sam, SamState, normalize, sam};
pub use schedule_free::{
    ScheduleFree, ScheduleFreeAdamW, ScheduleFreeSgd, ScheduleFreeState, schedule_free,
    schedule_free_adamw, schedule_free_eval_params, schedule_free_sgd,
};
pub use sophia::{
    HutchinsonState, ScaleBySophia, Sophia, SophiaState, hutchinson_estimator_diag_hessian,
    scale_by_sophia, sophia,
};
