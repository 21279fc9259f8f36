"""Linear attention as a step: take in one key and its value, then read."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def state_step(
    phi_q: Tensor, phi_k: Tensor, v: Tensor, S: Tensor, z: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Shapes: phi_q and phi_k (..., 1, m), v (..., 1, d_v), S (..., m, d_v), z (..., 1, m).

    Returns: the context (..., 1, d_v), and the new S and z.
    """
    S = S + phi_k.mT @ v
    z = z + phi_k
    return (phi_q @ S) / (phi_q @ z.mT), S, z


exercise = Exercise(state_step, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def features(*batch: int, m: int, d_v: int, held: float = 1.0) -> tuple[Tensor, ...]:
    """Draw one position's features and value, and what is held: nothing if `held` is 0."""
    phi_q, phi_k = (random(*batch, 1, m).abs() + 0.1 for _ in range(2))
    S, z = held * random(*batch, m, d_v), held * (random(*batch, 1, m).abs() + 0.1)
    return phi_q, phi_k, random(*batch, 1, d_v), S, z


@exercise.stage("a first position, nothing held")
def first_position():
    return [features(m=1, d_v=1, held=0.0)]


@exercise.stage("a position after others")
def behind_others():
    return [features(m=3, d_v=2)]


@exercise.stage("with axes for sequences and heads")
def in_heads():
    return [features(2, 3, m=4, d_v=5), features(3, 2, m=5, d_v=4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("you read before you write: a position also attends to itself.")
def read_first(phi_q, phi_k, v, S, z):
    _, new_S, new_z = state_step(phi_q, phi_k, v, S, z)
    return (phi_q @ S) / (phi_q @ z.mT), new_S, new_z


@exercise.mistake("you don't divide the context by the sum of the weights, for which z is kept.")
def not_divided(phi_q, phi_k, v, S, z):
    _, S, z = state_step(phi_q, phi_k, v, S, z)
    return phi_q @ S, S, z


@exercise.mistake("the new S forgets the old one: add to it.")
def board_replaced(phi_q, phi_k, v, S, z):
    _, _, z = state_step(phi_q, phi_k, v, S, z)
    S = phi_k.mT @ v
    return (phi_q @ S) / (phi_q @ z.mT), S, z


@exercise.mistake("the new z forgets the old keys: add to it.")
def sum_replaced(phi_q, phi_k, v, S, z):
    _, S, _ = state_step(phi_q, phi_k, v, S, z)
    return (phi_q @ S) / (phi_q @ phi_k.mT), S, phi_k


@exercise.mistake("S and z both forget the past: add to them.")
def both_replaced(phi_q, phi_k, v, S, z):
    return state_step(phi_q, phi_k, v, 0 * S, 0 * z)


@exercise.mistake("the context is correct, but you return the old S and z: nothing would be kept.")
def old_state_returned(phi_q, phi_k, v, S, z):
    return state_step(phi_q, phi_k, v, S, z)[0], S, z


@exercise.mistake("you store with the query's features: store with the key's.")
def stored_by_the_query(phi_q, phi_k, v, S, z):
    return state_step(phi_q, phi_q, v, S, z)


@exercise.mistake("you read with the key's features: read with the query's.")
def read_by_the_key(phi_q, phi_k, v, S, z):
    return state_step(phi_k, phi_k, v, S, z)


@exercise.mistake(
    "you divide by the sum of all of z: weight its entries by the query's features first."
)
def divided_by_the_sum(phi_q, phi_k, v, S, z):
    _, S, z = state_step(phi_q, phi_k, v, S, z)
    return (phi_q @ S) / z.sum(dim=-1, keepdim=True), S, z


@exercise.mistake("you divide by the old z, without the new key: S includes it.")
def divided_by_the_old(phi_q, phi_k, v, S, z):
    _, S, new_z = state_step(phi_q, phi_k, v, S, z)
    return (phi_q @ S) / (phi_q @ z.mT), S, new_z


@exercise.mistake("return the context first, then S and z.")
def state_first(phi_q, phi_k, v, S, z):
    context, S, z = state_step(phi_q, phi_k, v, S, z)
    return S, z, context


@exercise.mistake("return S and z, too: the next position needs them.")
def context_alone(phi_q, phi_k, v, S, z):
    return state_step(phi_q, phi_k, v, S, z)[0]


@exercise.mistake("your z sums the values: it is the sum of the keys' features.")
def values_summed(phi_q, phi_k, v, S, z):
    return state_step(phi_q, phi_k, v, S, z + v - phi_k)


@exercise.mistake(
    "you divide by one number, z.sum(): weight the entries of z by the query's features first."
)
def divided_by_one_number(phi_q, phi_k, v, S, z):
    _, S, z = state_step(phi_q, phi_k, v, S, z)
    return (phi_q @ S) / z.sum(), S, z


@exercise.mistake("you apply φ again: phi_q and phi_k are features already.")
def features_of_features(phi_q, phi_k, v, S, z):
    return state_step(phi_q + 1, phi_k + 1, v, S, z)  # the features of x above 0


@exercise.mistake("you read only the new key and value: read the whole state S.")
def note_alone(phi_q, phi_k, v, S, z):
    return state_step(phi_q, phi_k, v, 0 * S, 0 * z)[0], *state_step(phi_q, phi_k, v, S, z)[1:]


@exercise.mistake("you read the old S and divide by the new z: add to both of them first.")
def old_board_read(phi_q, phi_k, v, S, z):
    _, new_S, z = state_step(phi_q, phi_k, v, S, z)
    return (phi_q @ S) / (phi_q @ z.mT), new_S, z


@exercise.mistake("S and z are exchanged: return the context, then S, then z.")
def exchanged(phi_q, phi_k, v, S, z):
    context, S, z = state_step(phi_q, phi_k, v, S, z)
    return context, z, S


@exercise.mistake("`.T` reverses all axes, heads included: `.mT` swaps the last two.")
def all_axes_turned(phi_q, phi_k, v, S, z):
    turned = range(phi_k.dim())[::-1]  # as .T does, without its warning
    S, z = S + phi_k.permute(*turned) @ v, z + phi_k
    return (phi_q @ S) / (phi_q @ z.permute(*turned)), S, z


@exercise.mistake(
    "the new S is returned, but the old z: at the next step, they don't belong together."
)
def old_sum_returned(phi_q, phi_k, v, S, z):
    context, S, _ = state_step(phi_q, phi_k, v, S, z)
    return context, S, z


@exercise.mistake("the new z is returned, but the old S: at the next step, this value is missing.")
def old_board_returned(phi_q, phi_k, v, S, z):
    context, _, z = state_step(phi_q, phi_k, v, S, z)
    return context, S, z


@exercise.mistake("you weight z with the key's features: the query reads S, and so it divides.")
def divided_by_the_keys_sum(phi_q, phi_k, v, S, z):
    _, S, z = state_step(phi_q, phi_k, v, S, z)
    return (phi_q @ S) / (phi_k @ z.mT), S, z


@exercise.mistake("S is transposed: it has a row for each feature.")
def transposed(phi_q, phi_k, v, S, z):
    c, S, z = state_step(phi_q, phi_k, v, S, z)
    return c, S.mT, z


@exercise.mistake("your z counts the keys: it should sum their features.")
def keys_counted(phi_q, phi_k, v, S, z):
    S, z = S + phi_k.mT @ v, z + 1
    return (phi_q @ S) / (phi_q @ z.mT), S, z


@exercise.mistake(
    "you add a small number to the divisor: with positive features it is never 0, and now the "
    "weights sum to less than 1."
)
def small_number_added(phi_q, phi_k, v, S, z):
    S, z = S + phi_k.mT @ v, z + phi_k
    return (phi_q @ S) / (phi_q @ z.mT + 1e-6), S, z
