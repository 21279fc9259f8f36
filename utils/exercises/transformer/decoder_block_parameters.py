"""How many parameters does a decoder block have?"""

import torch

from utils.exercises.checking import Prediction
from utils.transformer import DecoderBlock, TransformerConfig


def parameters_of_a_decoder_block() -> int:
    """Count those of a block with a width of 64 and a feed-forward layer of 256."""
    with torch.device("meta"):
        block = DecoderBlock(TransformerConfig(vocab_size=1, d_model=64, n_heads=4, d_ff=256))
    return sum(parameter.numel() for parameter in block.parameters())


exercise = Prediction(parameters_of_a_decoder_block)


# What goes wrong ----------------------------------------------------------------------------------

D, D_FF = 64, 256
MATRIX = D * D + D  # with its bias
FEED_FORWARD = 2 * D * D_FF + D_FF + D
NORM = 2 * D


@exercise.mistake(
    "that is an encoder block's count: which layer does a decoder block have in addition?"
)
def encoder_block():
    return 4 * MATRIX + FEED_FORWARD + 2 * NORM


@exercise.mistake("you leave out the biases; in the book's layers each matrix has one.")
def no_biases():
    return 8 * D * D + 2 * D * D_FF + 3 * NORM


@exercise.mistake("the norms have parameters, too.")
def no_norms():
    return 8 * MATRIX + FEED_FORWARD


@exercise.mistake("there are as many norms as sublayers.")
def two_norms():
    return 8 * MATRIX + FEED_FORWARD + 2 * NORM


@exercise.mistake(
    "the heads' outputs are put side by side, and then? Each attention lacks one matrix."
)
def no_output_projection():
    return 6 * MATRIX + FEED_FORWARD + 3 * NORM


@exercise.mistake(
    "you counted three norms, but one attention: what does a decoder block attend to, besides its "
    "own target?"
)
def no_cross_attention():
    return 4 * MATRIX + FEED_FORWARD + 3 * NORM


@exercise.mistake("a norm has a gain and a bias: two numbers for each component.")
def gains_alone():
    return 8 * MATRIX + FEED_FORWARD + 3 * D


@exercise.mistake("the four matrices of an attention have biases, too.")
def no_biases_in_attention():
    return 8 * D * D + FEED_FORWARD + 3 * NORM


@exercise.mistake("the two matrices of the feed-forward layer have biases, too.")
def no_biases_in_feed_forward():
    return 8 * MATRIX + 2 * D * D_FF + 3 * NORM


@exercise.mistake(
    "you counted only weights: each matrix and each norm has a bias, and each norm a gain."
)
def matrices_alone():
    return 8 * D * D + 2 * D * D_FF


@exercise.mistake("the feed-forward layer is missing: it follows the attention layers.")
def no_feed_forward():
    return 8 * MATRIX + 3 * NORM


@exercise.mistake("a feed-forward layer goes to 256 and comes back: it has two matrices.")
def one_matrix_of_the_feed_forward():
    return 8 * MATRIX + D * D_FF + D_FF + 3 * NORM


@exercise.mistake("the heads share the width: all four together are as large as one.")
def matrices_for_each_head():
    return 4 * 8 * MATRIX + FEED_FORWARD + 3 * NORM
