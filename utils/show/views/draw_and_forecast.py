"""Day 14: draw a series, and five forecasters go on with it in the page."""

from collections.abc import Mapping

from torch import Tensor

from utils.show.views.frame import listed, paragraph, rounded, view
from utils.show.views.models import Stored, check_shapes, encoder_block, hand_over, load, shapes

METHODS = "naive", "seasonal naive", "linear", "LSTM", "Transformer"
Q = 3  # quantiles: the ends of an interval, and the median
MOST = 100  # of what can be drawn; the least is 0


def draw_and_forecast(model: str, *, series: Mapping[str, Tensor]) -> None:
    """Let the reader draw a series; five methods go on with it, with intervals of 80%.

    model: the name of the stored forecasters, as `experiments/forecast_page.py` makes them. The
        file tells "heads", "season" and "alpha", the share of days that an interval may miss.
    series: what the reader can take, by name: (S + T,), what a forecaster sees and what came, all
        from 0 to 100. The first one is shown at the start.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights, or a series
        is of another length or leaves the range.
    """
    held = load(model)
    S, T = check(held)
    if not series:
        raise ValueError("Say what can be taken: at least one series.")
    for name, values in series.items():
        if values.shape != (S + T,) or not ((values >= 0) & (values <= MOST)).all():
            raise ValueError(
                f"{name!r} should have {S + T} values from 0 to {MOST}, got {tuple(values.shape)} "
                f"from {values.min():g} to {values.max():g}."
            )
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "methods": list(METHODS),
        "series": [{"name": name, "values": rounded(series[name], 1)} for name in series],
        "S": S,
        "T": T,
        "season": held.header["season"],
        "most": MOST,
    }
    still = paragraph(
        f"Draw {S} days, and {', '.join(METHODS[:-1])} and {METHODS[-1]} go on for {T} more, each "
        "with an interval of 80%: an interactive picture, which needs JavaScript. In JupyterLab, "
        "run the cell to open it. Series to take:"
    ) + listed(list(series))
    says = f"View: draw a series, and five methods go on with it. {'; '.join(series)}"
    view(
        "draw_and_forecast", data, says=says, still=still, parts=["runtime", "live", "forecasters"]
    )


def check(held: Stored) -> tuple[int, int]:
    """Return S and T, how many days stored forecasters read and how many they forecast.

    Raises: ValueError if they are not of the kinds that the page computes.
    """
    found, told = shapes(held), held.header
    outputs, S = found.get("linear.linear.weight", (0, 0))
    N, T = found.get("LSTM.lstm.weight_hh_l0", (0, 0))[1], outputs // Q
    D = found.get("Transformer.encoder.norm.bias", (0,))[0]
    F = found.get("Transformer.encoder.blocks.0.feed_forward.W_1.bias", (0,))[0]
    L = sum(name.endswith("self_attention.W_in") for name in found)
    wanted = {"linear.linear.weight": (Q * T, S), "linear.linear.bias": (Q * T,)}
    for part, width in (("ih", 2), ("hh", N)):
        wanted[f"LSTM.lstm.weight_{part}_l0"] = 4 * N, width
        wanted[f"LSTM.lstm.bias_{part}_l0"] = (4 * N,)
    for name, width in (("LSTM", N), ("Transformer", D)):
        wanted |= {f"{name}.output.weight": (Q, width), f"{name}.output.bias": (Q,)}
    own = {"embedding.symbols.weight": (D, 2), "embedding.symbols.bias": (D,)}
    own |= {"embedding.positions.table": (S + T, D), "norm.weight": (D,), "norm.bias": (D,)}
    for i in range(L):
        own |= {f"blocks.{i}.{name}": shape for name, shape in encoder_block(D, F).items()}
    wanted |= {f"Transformer.encoder.{name}": shape for name, shape in own.items()}
    h, season, alpha = (told.get(name, 0) for name in ("heads", "season", "alpha"))
    fits = T > 0 and L > 0 and h > 0 and D % h == 0 and 0 < season and 0 < alpha < 1
    # the longest lag leaves enough of the past for an interval
    fits = fits and (S - season * -(-T // season) + 1) * alpha >= 1
    check_shapes(held, wanted, fits, "experiments/forecast_page.py", "heads, season or alpha")
    return S, T
