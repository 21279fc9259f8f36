"""A cache that holds the last positions only: a ring."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def put(buffer: Tensor, length: int, new: Tensor) -> tuple[Tensor, Tensor]:
    """Put new keys behind `length` others; return the buffer, and the positions it holds.

    Shapes: buffer (B, h, slots, d), new (B, h, T, d) to (B, h, slots, d) and (slots,), -1 where a
    slot holds none of this sequence.
    """
    slots = buffer.shape[2]
    buffer = buffer.clone()
    for i in range(new.shape[2]):
        buffer[:, :, (length + i) % slots] = new[:, :, i]
    return buffer, positions_held(length + new.shape[2], slots)


def positions_held(length: int, slots: int) -> Tensor:
    """Return the last position p < length with p mod slots = slot, or -1: (slots,)."""
    slot = torch.arange(slots)
    return torch.where(slot < length, length - 1 - (length - 1 - slot) % slots, -1)


exercise = Exercise(put, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def ring(B: int, h: int, slots: int, d: int, length: int, T: int) -> tuple[Tensor, int, Tensor]:
    return random(B, h, slots, d), length, random(B, h, T, d)


@exercise.stage("an empty ring")
def empty_ring():
    return [ring(1, 1, 3, 2, 0, 2)]


@exercise.stage("room for all")
def room_for_all():
    return [ring(1, 2, 5, 2, 2, 2), ring(2, 1, 4, 3, 1, 3), ring(1, 1, 6, 2, 1, 2)]


@exercise.stage("the first positions are overwritten")
def first_overwritten():
    return [ring(2, 1, 4, 3, 3, 2)]


@exercise.stage("a ring that has gone round once")
def gone_round():
    return [ring(1, 2, 3, 4, 7, 1)]


@exercise.stage("more than the ring holds")
def more_than_it_holds():
    return [ring(2, 3, 4, 2, 1, 6), ring(3, 1, 5, 2, 8, 12)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your positions start from 0 in each call: `length` positions came before.")
def from_0(buffer, length, new):
    return put(buffer, 0, new)


@exercise.mistake(
    "when the ring is full, you add nothing more: the new key should replace the oldest."
)
def stopped_when_full(buffer, length, new):
    slots = buffer.shape[2]
    room = new[:, :, : max(0, slots - length)]
    return put(buffer, min(length, slots), room)


@exercise.mistake("when the ring is full, everything goes into the last slot.")
def last_slot(buffer, length, new):
    slots = buffer.shape[2]
    buffer, held = buffer.clone(), positions_held(length, slots)
    for i in range(new.shape[2]):
        slot = min(length + i, slots - 1)
        buffer[:, :, slot] = new[:, :, i]
        held[slot] = length + i
    return buffer, held


@exercise.mistake(
    "that is a queue: correct as a memory, but each call moves everything that is held. In a "
    "ring, nothing moves."
)
def queue(buffer, length, new):
    slots = buffer.shape[2]
    kept = torch.cat([buffer[:, :, :length], new], dim=2)[:, :, -slots:]  # the oldest first
    n, end = kept.shape[2], length + new.shape[2]
    held = torch.full((slots,), -1)
    held[:n] = torch.arange(end - n, end)
    return torch.cat([kept, buffer[:, :, n:]], dim=2), held


@exercise.mistake(
    "a slot that this sequence has not filled still holds a key of the last one: it must not "
    "count as held."
)
def left_by_the_last_text(buffer, length, new):
    buffer, held = put(buffer, length, new)
    return buffer, torch.where(held < 0, torch.arange(len(held)), held)


@exercise.mistake("these are the numbers of the slots: the positions go on counting.")
def slots_for_positions(buffer, length, new):
    buffer, held = put(buffer, length, new)
    return buffer, torch.where(held < 0, -1, held % len(held))


@exercise.mistake("if more keys come than the ring holds, the last ones should stay.")
def first_ones_kept(buffer, length, new):
    slots, T = buffer.shape[2], new.shape[2]
    kept, _ = put(buffer, length, new[:, :, :slots])
    return kept, positions_held(length + min(T, slots), slots)


@exercise.mistake("every empty slot holds -1: your formula goes on counting below 0.")
def counted_below_0(buffer, length, new):
    buffer, held = put(buffer, length, new)
    return buffer, torch.where(held < 0, torch.arange(len(held)) - len(held), held)


@exercise.mistake("you return the new positions alone: the earlier ones are still held.")
def new_ones_alone(buffer, length, new):
    buffer, held = put(buffer, length, new)
    return buffer, torch.where(held < length, -1, held)


@exercise.mistake("an empty slot returns 0, as if it held the first position.")
def first_for_none(buffer, length, new):
    buffer, held = put(buffer, length, new)
    return buffer, held.clamp(min=0)


@exercise.mistake("your positions count from 1, but they should count from 0.")
def from_1(buffer, length, new):
    buffer, held = put(buffer, length, new)
    return buffer, torch.where(held < 0, -1, held + 1)


@exercise.mistake("each key is one slot too far: position p goes into slot p mod slots.")
def one_slot_on(buffer, length, new):
    kept, held = put(buffer.roll(-1, 2), length, new)
    return kept.roll(1, 2), held.roll(1)


@exercise.mistake(
    "the keys are in their slots, but you list the positions from the oldest to the newest: list "
    "them by slot, from slot 0."
)
def positions_in_order(buffer, length, new):
    buffer, held = put(buffer, length, new)
    return buffer, held.sort().values


@exercise.mistake(
    "if more keys come than the ring holds, the last ones stay, but as if they came right after "
    "`length`: count the ones that you left out, too."
)
def cut_without_counting(buffer, length, new):
    return put(buffer, length, new[:, :, -buffer.shape[2] :])


@exercise.mistake("you start at slot 0 in each call: after `length` keys, which slot comes next?")
def always_from_slot_0(buffer, length, new):
    return put(buffer, 0, new)[0], put(buffer, length, new)[1]
