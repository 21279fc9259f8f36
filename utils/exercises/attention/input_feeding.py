"""Luong's decoder with input feeding: the result of a step's attention goes into the next."""

import math

import torch
from torch import Tensor

from utils.attention import masked_softmax, padding_mask
from utils.exercises.checking import Exercise, random


def input_feeding(
    x: Tensor, s_0: Tensor, annotations: Tensor, lengths: Tensor, W_s: Tensor, W_c: Tensor
) -> Tensor:
    """Return all h̃ (B, T, N).

    Shapes: x (B, T, D), s_0 (B, N), annotations (B, S, N), the sources' lengths (B,),
    W_s (N, D + 2N), W_c (N, 2N).
    """
    mask = padding_mask(lengths, annotations.shape[1])
    s, fed, steps = s_0, torch.zeros_like(s_0), []
    for x_t in x.unbind(1):
        s = torch.tanh(torch.cat([x_t, fed, s], dim=1) @ W_s.T)
        fed = torch.tanh(torch.cat([context(s, annotations, mask), s], dim=1) @ W_c.T)
        steps.append(fed)
    return torch.stack(steps, dim=1)


def context(query: Tensor, annotations: Tensor, mask: Tensor) -> Tensor:
    weights = masked_softmax(query[:, None] @ annotations.mT, mask)  # (B, 1, S)
    return (weights @ annotations)[:, 0]


exercise = Exercise(input_feeding)


# What it is tried on ------------------------------------------------------------------------------


def drawn(T: int, S: int, D: int, N: int, *lengths: int) -> tuple[Tensor, ...]:
    B = len(lengths)
    decoder = random(B, T, D), random(B, N), random(B, S, N)
    return *decoder, torch.tensor(lengths), random(N, D + 2 * N), random(N, 2 * N)


@exercise.stage("one step")
def one_step():
    return [drawn(1, 3, 2, 4, 3)]


@exercise.stage("two steps")
def two_steps():
    return [drawn(2, 3, 2, 4, 3)]


@exercise.stage("several steps and sources of two lengths")
def several_steps():
    return [drawn(4, 5, 3, 6, 5, 2), drawn(3, 4, 5, 2, 1, 4, 3)]


# What goes wrong ----------------------------------------------------------------------------------


def state(old: Tensor, new: Tensor) -> Tensor:
    return new


def found(h: Tensor, s: Tensor, c: Tensor) -> Tensor:
    return h


def decoded(
    x,
    s,
    annotations,
    lengths,
    W_s,
    W_c,
    begin=torch.zeros_like,
    query=state,
    feed=found,
    first_only=False,
):
    """Run the decoder; mistakes change the last four arguments."""
    mask = padding_mask(lengths, annotations.shape[1])
    fed, c, steps = begin(s), None, []
    for x_t in x.unbind(1):
        old, s = s, torch.tanh(torch.cat([x_t, fed, s], dim=1) @ W_s.T)
        if c is None or not first_only:
            c = context(query(old, s), annotations, mask)
        steps.append(torch.tanh(torch.cat([c, s], dim=1) @ W_c.T))
        fed = feed(steps[-1], s, c)
    return torch.stack(steps, dim=1)


@exercise.mistake("all steps get the context of the first: each step has a query of its own.")
def first_context_kept(*inputs):
    return decoded(*inputs, first_only=True)


@exercise.mistake("the query is the state before the step: that is Bahdanau's order.")
def old_state_asks(*inputs):
    return decoded(*inputs, query=lambda old, new: old)


@exercise.mistake("you divide the scores by √N: Luong's dot score is the product as it is.")
def scaled(*inputs):
    return decoded(*inputs, query=lambda old, new: new / math.sqrt(new.shape[1]))


@exercise.mistake("h̃ begins at 0: before the first step there was no attention, and s_0 is no h̃.")
def begun_with_the_state(*inputs):
    return decoded(*inputs, begin=Tensor.clone)


@exercise.mistake("nothing of the attention goes into the next step: your h̃ stays 0.")
def nothing_fed(*inputs):
    return decoded(*inputs, feed=lambda h, s, c: 0 * h)


@exercise.mistake("you feed the state a second time, in place of h̃.")
def state_fed(*inputs):
    return decoded(*inputs, feed=lambda h, s, c: s)


@exercise.mistake("you feed the context: h̃ is computed from context and state together.")
def context_fed(*inputs):
    return decoded(*inputs, feed=lambda h, s, c: c)


@exercise.mistake("shorter sources are attended to beyond their ends.")
def padding_attended_to(x, s_0, annotations, lengths, W_s, W_c):
    everything = torch.full_like(lengths, annotations.shape[1])
    return input_feeding(x, s_0, annotations, everything, W_s, W_c)


@exercise.mistake("context and state are swapped before W_c: the context comes first.")
def state_before_context(x, s_0, annotations, lengths, W_s, W_c):
    return input_feeding(x, s_0, annotations, lengths, W_s, W_c.roll(len(W_c), dims=1))


@exercise.mistake("state and h̃ are swapped before W_s: after x comes h̃, and then the state.")
def state_before_what_is_fed(x, s_0, annotations, lengths, W_s, W_c):
    N = len(W_s)
    W_x, W_fed, W_old = W_s.split([x.shape[2], N, N], dim=1)
    exchanged = torch.cat([W_x, W_old, W_fed], dim=1)
    return input_feeding(x, s_0, annotations, lengths, exchanged, W_c)


@exercise.mistake("h̃ has no bounds: a tanh is missing after W_c.")
def no_tanh_after_context(x, s_0, annotations, lengths, W_s, W_c):
    mask = padding_mask(lengths, annotations.shape[1])
    s, fed, steps = s_0, torch.zeros_like(s_0), []
    for x_t in x.unbind(1):
        s = torch.tanh(torch.cat([x_t, fed, s], dim=1) @ W_s.T)
        fed = torch.cat([context(s, annotations, mask), s], dim=1) @ W_c.T
        steps.append(fed)
    return torch.stack(steps, dim=1)


@exercise.mistake("the state has no bounds: a tanh is missing after W_s.")
def no_tanh_in_the_state(x, s_0, annotations, lengths, W_s, W_c):
    mask = padding_mask(lengths, annotations.shape[1])
    s, fed, steps = s_0, torch.zeros_like(s_0), []
    for x_t in x.unbind(1):
        s = torch.cat([x_t, fed, s], dim=1) @ W_s.T
        fed = torch.tanh(torch.cat([context(s, annotations, mask), s], dim=1) @ W_c.T)
        steps.append(fed)
    return torch.stack(steps, dim=1)


@exercise.mistake("h̃ replaces the state: the next step gets both, side by side.")
def found_for_state(x, s_0, annotations, lengths, W_s, W_c):
    mask = padding_mask(lengths, annotations.shape[1])
    s, fed, steps = s_0, torch.zeros_like(s_0), []
    for x_t in x.unbind(1):
        s = torch.tanh(torch.cat([x_t, fed, s], dim=1) @ W_s.T)
        fed = s = torch.tanh(torch.cat([context(s, annotations, mask), s], dim=1) @ W_c.T)
        steps.append(fed)
    return torch.stack(steps, dim=1)


@exercise.mistake("those are the states: return the h̃ of every step.")
def states(x, s_0, annotations, lengths, W_s, W_c):
    mask = padding_mask(lengths, annotations.shape[1])
    s, fed, steps = s_0, torch.zeros_like(s_0), []
    for x_t in x.unbind(1):
        s = torch.tanh(torch.cat([x_t, fed, s], dim=1) @ W_s.T)
        fed = torch.tanh(torch.cat([context(s, annotations, mask), s], dim=1) @ W_c.T)
        steps.append(s)
    return torch.stack(steps, dim=1)
