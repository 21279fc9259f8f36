"""Day 8: classification. A text of any length becomes one answer.

Read `pooling` first, then `models`, `calibration` and `attribution`.
"""

from utils.classification.attribution import (
    attention_received,
    attention_rollout,
    gradient_length,
    gradient_times_input,
    leave_one_out,
)
from utils.classification.calibration import (
    Reliability,
    expected_calibration_error,
    fit_temperature,
    reliability,
)
from utils.classification.models import (
    CLSEncoder,
    MeanOfEmbeddings,
    RecurrentClassifier,
    TextClassifier,
    TextCNN,
)
from utils.classification.pooling import first_pool, max_pool, with_cls
from utils.transformer import mean_pool

__all__ = [
    "CLSEncoder",
    "MeanOfEmbeddings",
    "RecurrentClassifier",
    "Reliability",
    "TextCNN",
    "TextClassifier",
    "attention_received",
    "attention_rollout",
    "expected_calibration_error",
    "first_pool",
    "fit_temperature",
    "gradient_length",
    "gradient_times_input",
    "leave_one_out",
    "max_pool",
    "mean_pool",
    "reliability",
    "with_cls",
]
