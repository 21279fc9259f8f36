"""Day 13's codes: the nearest ones, what passes a gradient, codebooks and autoencoders."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.drawing import (
    Codebook,
    GumbelCodebook,
    VQAutoencoder,
    codebook_loss,
    gumbel_softmax,
    kl_to_uniform,
    nearest_codes,
    perplexity_of_codes,
    straight_through,
)

TABLE = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 5.0]], dtype=torch.float64)


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


# Codes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 3, 4, 5), (0, 5)])
def test_codes_are_the_numbers_of_the_nearest_vectors(shape):
    z, codebook = draw(*shape), draw(7, 5, seed=1)
    codes, q = nearest_codes(z, codebook)
    distances = torch.linalg.vector_norm(z[..., None, :] - codebook, dim=-1)
    assert torch.equal(codes, distances.argmin(dim=-1)) and codes.shape == shape[:-1]
    assert torch.equal(q, codebook[codes]) and q.shape == shape


def test_the_nearest_is_not_the_largest_product_and_of_equals_the_first_counts():
    z = torch.tensor([[1.4, 0.1], [1.5, 0.0], [9.0, 1.0]], dtype=torch.float64)
    assert nearest_codes(z, TABLE)[0].tolist() == [0, 0, 1]


@pytest.mark.parametrize("shapes", [((2, 3), (4, 2)), ((3,), (3,)), ((2, 3), (0, 3)), ((), (2, 3))])
def test_vectors_and_codebook_of_other_shapes_are_refused(shapes):
    with pytest.raises(ValueError, match=" width"):
        nearest_codes(*(torch.ones(shape) for shape in shapes))


def test_the_encoder_gets_the_decoders_gradient_and_the_codebook_none():
    z, codebook = draw(2, 6, 3).requires_grad_(), draw(5, 3, seed=1).requires_grad_()
    _, q = nearest_codes(z, codebook)
    read = straight_through(z, q)
    torch.testing.assert_close(read, q)
    read.retain_grad()
    (read.sin() * draw(2, 6, 3, seed=2)).sum().backward()
    assert torch.equal(z.grad, read.grad) and read.grad.abs().min() > 0
    assert codebook.grad is None


@pytest.mark.parametrize("beta", [0.0, 0.25, 2.0])
def test_each_side_of_the_loss_moves_one_side(beta):
    z, q = draw(4, 3).requires_grad_(), draw(4, 3, seed=1).requires_grad_()
    loss = codebook_loss(z, q, beta)
    squares = sum((a - b) ** 2 for a, b in zip(z.flatten(), q.flatten(), strict=True)) / 12
    torch.testing.assert_close(loss, (1 + beta) * squares)
    loss.backward()
    torch.testing.assert_close(q.grad, 2 * (q - z).detach() / 12)
    torch.testing.assert_close(z.grad, beta * 2 * (z - q).detach() / 12)


@pytest.mark.parametrize("function", [straight_through, codebook_loss])
def test_vectors_of_another_shape_are_refused(function):
    with pytest.raises(ValueError, match=r"got \(1, 3\) for \(4, 3\)"):
        function(torch.ones(4, 3), torch.ones(1, 3))


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf])
def test_a_weight_below_0_is_refused(weight):
    with pytest.raises(ValueError, match="^commitment .* 0"):
        codebook_loss(torch.ones(2, 1), torch.ones(2, 1), weight)
    with pytest.raises(ValueError, match="^kl_weight .* 0"):
        GumbelCodebook(3, 2, kl_weight=weight)


def test_perplexity_counts_what_is_in_use():
    assert perplexity_of_codes(torch.tensor([[3, 3], [3, 3]]), 9) == pytest.approx(1)
    assert perplexity_of_codes(torch.arange(8).repeat(3), 9) == pytest.approx(8)
    expected = math.exp(-sum(p * math.log(p) for p in (1 / 3, 2 / 3)))
    found = perplexity_of_codes(torch.tensor([0, 2, 0]), 3)
    assert isinstance(found, float) and found == pytest.approx(expected, rel=1e-12)


def test_what_is_no_code_is_refused():
    for codes in (torch.tensor([0, 3]), torch.tensor([-1, 0])):
        with pytest.raises(ValueError, match=" 0 to 2 "):
            perplexity_of_codes(codes, 3)
    with pytest.raises(ValueError, match="whole numbers, got"):
        perplexity_of_codes(torch.ones(2), 3)
    for dtype in (torch.uint8, torch.int16, torch.int32):
        with pytest.raises(ValueError, match=rf" int64.* \(2,\) .*{dtype}"):
            perplexity_of_codes(torch.tensor([0, 1], dtype=dtype), 3)
    with pytest.raises(ValueError, match="no code"):
        perplexity_of_codes(torch.ones(0, dtype=torch.long), 3)
    with pytest.raises(ValueError, match=" 0 to 3"):
        Codebook(4, 2).vectors(torch.tensor([[4]]))
    with pytest.raises(ValueError, match=" 0 to 3"):
        GumbelCodebook(4, 2).vectors(torch.tensor([[4]]))


# Codebooks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("decay", [None, 0.9])
def test_a_codebook_replaces_each_place_row_by_row(decay):
    book = Codebook(6, 3, decay=decay, commitment=0.7).eval()
    nn.init.normal_(book.table)
    z = draw(2, 3, 4, 5, dtype=torch.float32)
    vectors, codes, loss = book(z)
    for b, i, j in torch.cartesian_prod(*map(torch.arange, (2, 4, 5))).tolist():
        nearest = (book.table - z[b, :, i, j]).square().sum(dim=1).argmin()
        assert codes[b, 5 * i + j] == nearest
        torch.testing.assert_close(vectors[b, :, i, j], book.table[nearest])
    torch.testing.assert_close(loss, codebook_loss(z, vectors.detach(), 0.7))
    assert torch.equal(book.choose(z), codes)
    torch.testing.assert_close(book.vectors(codes).mT.reshape(2, 3, 4, 5), vectors)
    assert book.uses.sum() == 0  # only training counts


def test_a_learned_codebook_gets_its_gradient_from_its_own_loss_alone():
    book, z = Codebook(6, 3), draw(2, 3, 4, 5, dtype=torch.float32)
    vectors, codes, loss = book(z.requires_grad_())
    vectors.sum().backward(retain_graph=True)
    assert book.table.grad is None and torch.equal(z.grad, torch.ones_like(z))
    loss.backward()
    used = codes.unique()
    assert (book.table.grad.abs().sum(dim=1) > 0).nonzero()[:, 0].tolist() == used.tolist()


def test_moving_averages_are_the_papers():
    book, gamma = Codebook(4, 2, decay=0.8), 0.8
    nn.init.normal_(book.table)
    book.sums.copy_(book.table)
    counts, sums = torch.ones(4), book.table.detach().clone()
    for seed in range(3):
        z = draw(3, 2, 2, 2, seed=seed, dtype=torch.float32)
        rows = z.permute(0, 2, 3, 1).reshape(-1, 2)
        chosen = torch.cdist(rows, book.table).argmin(dim=1)
        for k in range(4):
            mine = rows[chosen == k]
            counts[k] = gamma * counts[k] + (1 - gamma) * len(mine)
            sums[k] = gamma * sums[k] + (1 - gamma) * mine.sum(dim=0)
        loss = book(z).loss
        assert not loss.requires_grad
        torch.testing.assert_close(book.table.detach(), sums / counts[:, None])
    assert not book.table.requires_grad


def test_an_averaged_code_that_nothing_chooses_stays_finite():
    book = Codebook(3, 2, decay=0.5)
    with torch.no_grad():
        book.table[0] = book.sums[0] = 2.0
        book.table[1:] = book.sums[1:] = -50.0
    for _ in range(200):
        book(torch.full((1, 2, 1, 1), 2.0))
    assert book.table[1:].abs().max() < 1e-3  # a mean over less than nothing ends at 0
    assert book(torch.full((1, 2, 1, 1), 2.0)).codes.item() == 0


@pytest.mark.parametrize("decay", [None, 0.9])
def test_codes_that_nothing_chose_begin_anew_where_vectors_are(decay):
    book = Codebook(5, 2, decay=decay)
    z = 7 + draw(2, 2, 3, 3, dtype=torch.float32)
    rows = z.permute(0, 2, 3, 1).reshape(-1, 2).tolist()
    assert book.restart_unused(z, torch.Generator().manual_seed(0)) == 5
    table = book.table.detach().clone()
    assert all(row in rows for row in table.tolist()) and len(set(map(tuple, table.tolist()))) == 5
    kept = nearest_codes(torch.tensor([7.0, 7.0]), table)[0]
    book(torch.full((1, 2, 1, 1), 7.0))
    now = book.table.detach().clone()
    assert book.restart_unused(z - 20) == 4
    assert torch.equal(book.table[kept], now[kept])
    assert (book.table.detach() < 0).all(dim=1).sum() == 4 and book.uses.sum() == 0
    if decay is not None:
        others = [k for k in range(5) if k != kept]
        assert torch.equal(book.sums[others], book.table[others])
        assert torch.equal(book.counts[others], torch.ones(4))


def test_a_codebook_begins_near_0_and_restarts_alike_for_a_seed():
    torch.manual_seed(0)
    table = Codebook(50, 40).table.detach()
    assert -1 / 50 <= table.min() < -0.019 and 0.019 < table.max() <= 1 / 50
    z, tables = draw(3, 2, 4, 4, dtype=torch.float32), []
    for seed in (0, 0, 1):
        book = Codebook(7, 2)
        book.restart_unused(z, torch.Generator().manual_seed(seed))
        tables.append(book.table.detach())
    assert torch.equal(tables[0], tables[1]) and not torch.equal(tables[0], tables[2])
    assert not book.uses.is_floating_point()


def test_more_unused_codes_than_vectors_share_them():
    book = Codebook(5, 2)
    assert book.restart_unused(draw(1, 2, 1, 2, dtype=torch.float32)) == 5
    assert len(book.table.detach().unique(dim=0)) == 2


@pytest.mark.parametrize("shape", [(2, 2, 4), (2, 4, 3, 3), (2, 3, 0, 3)])
def test_other_pictures_are_refused_by_a_codebook(shape):
    with pytest.raises(ValueError, match=r"Expected vectors \(B, 3, h, w\)"):
        Codebook(4, 3)(torch.ones(shape))
    with pytest.raises(ValueError, match=r"Expected logits \(B, 3, h, w\)"):
        GumbelCodebook(3, 5)(torch.ones(shape))


# Gumbel-softmax -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
def test_gumbel_softmax_is_the_librarys(tau):
    logits = draw(3, 4, 6)
    torch.manual_seed(0)
    expected = F.gumbel_softmax(logits, tau)
    torch.manual_seed(0)
    torch.testing.assert_close(gumbel_softmax(logits, tau), expected)
    found = gumbel_softmax(logits, tau, torch.Generator().manual_seed(0))
    torch.testing.assert_close(found, expected)


def test_the_largest_weight_is_drawn_as_the_softmax_says():
    logits, n = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64), 20_000
    drawn = gumbel_softmax(logits.expand(n, -1), 0.3, torch.Generator().manual_seed(0))
    shares = drawn.argmax(dim=1).bincount(minlength=3) / n
    p = logits.softmax(dim=0)
    assert ((shares - p).abs() < 4 * (p * (1 - p) / n).sqrt()).all()


@pytest.mark.parametrize("tau", [0.0, -1.0, math.inf])
def test_a_temperature_that_is_none_is_refused(tau):
    with pytest.raises(ValueError, match="The temperature is"):
        gumbel_softmax(torch.ones(3), tau)


def test_the_divergence_is_the_librarys_and_its_gradient_is_finite():
    logits = (3 * draw(4, 5)).requires_grad_()
    q, uniform = torch.distributions.Categorical, torch.zeros(4, 5, dtype=torch.float64)
    expected = torch.distributions.kl_divergence(q(logits=logits), q(logits=uniform)).mean()
    torch.testing.assert_close(kl_to_uniform(logits), expected)
    certain = torch.tensor([900.0, 0.0, 1.0]).requires_grad_()
    assert kl_to_uniform(certain).item() == pytest.approx(math.log(3))
    kl_to_uniform(certain).backward()
    assert certain.grad.isfinite().all()
    assert kl_to_uniform(torch.full((2, 7), 3.0)).item() == pytest.approx(0, abs=1e-6)
    hidden = torch.tensor([2.0, 2.0, -torch.inf]).requires_grad_()
    assert kl_to_uniform(hidden).item() == pytest.approx(math.log(3 / 2))
    kl_to_uniform(hidden).backward()
    assert hidden.grad.isfinite().all()


def test_a_gumbel_codebook_mixes_in_training_and_looks_up_in_evaluation():
    book, logits = GumbelCodebook(6, 3, tau=0.7, kl_weight=0.5), draw(2, 6, 4, 5).float()
    torch.manual_seed(0)
    vectors, codes, loss = book(logits.requires_grad_())
    torch.manual_seed(0)
    weights = F.gumbel_softmax(logits.permute(0, 2, 3, 1), 0.7)
    torch.testing.assert_close(vectors, (weights @ book.table).permute(0, 3, 1, 2))
    torch.testing.assert_close(loss, 0.5 * kl_to_uniform(logits.permute(0, 2, 3, 1)))
    vectors.sin().sum().backward()
    assert logits.grad.abs().max() > 0 and book.table.grad.abs().min() > 0
    vectors, codes, _ = book.eval()(logits)
    assert torch.equal(codes, logits.argmax(dim=1).flatten(1))
    assert torch.equal(book.choose(logits), codes)
    assert torch.equal(vectors, book.vectors(codes).mT.reshape(2, 3, 4, 5))


# Autoencoders -------------------------------------------------------------------------------------


BOOKS = [lambda: Codebook(8, 5), lambda: Codebook(8, 5, decay=0.9), lambda: GumbelCodebook(8, 5)]


@pytest.mark.parametrize("book", BOOKS)
def test_a_picture_of_24_by_24_becomes_36_codes_and_a_picture_again(book):
    torch.manual_seed(0)
    model = VQAutoencoder(3, book(), width=12)
    images = torch.rand(2, 3, 24, 24)
    found, codes, loss = model(images)
    assert found.shape == images.shape and codes.shape == (2, 36) and loss.dim() == 0
    assert 0 <= found.min() and found.max() <= 1
    F.mse_loss(found, images).backward()
    assert all(p.grad.abs().max() > 0 for p in model.encoder.parameters())
    model.eval()
    found, codes, _ = model(images)
    assert torch.equal(model.encode(images), codes)
    torch.testing.assert_close(model.decode(codes), found)


def test_an_autoencoder_has_the_sizes_that_it_says_and_no_normalisation():
    model = VQAutoencoder(3, Codebook(8, 5))
    convolutions = [layer for layer in model.modules() if isinstance(layer, nn.Conv2d)]
    assert [(conv.in_channels, conv.out_channels, conv.stride[0]) for conv in convolutions] == [
        *((3, 32, 2), (32, 64, 2), (64, 64, 1), (64, 64, 1), (64, 5, 1)),
        *((5, 64, 1), (64, 64, 1), (64, 64, 1), (64, 32, 1), (32, 3, 1)),
    ]
    assert not any(isinstance(layer, nn.BatchNorm2d) for layer in model.modules())


def test_a_decoder_doubles_each_side_twice_and_smooths_after_each():
    torch.manual_seed(0)
    model = VQAutoencoder(2, Codebook(9, 3), width=4).eval()
    codes = torch.randint(9, (2, 9))
    first, block, _, second, _, last, _ = model.decoder

    def doubled(x):
        return x.repeat_interleave(2, dim=2).repeat_interleave(2, dim=3)

    x = torch.stack([model.codebook.table[row].T.view(3, 3, 3) for row in codes])
    x = doubled(block(F.relu(F.conv2d(x, first[0].weight, first[0].bias, padding=1))))
    x = doubled(F.relu(F.conv2d(x, second[0].weight, second[0].bias, padding=1)))
    x = F.conv2d(x, last.weight, last.bias, padding=1).sigmoid()
    torch.testing.assert_close(model.decode(codes), x)


def test_a_code_is_where_its_part_of_the_picture_is():
    torch.manual_seed(0)
    model = VQAutoencoder(1, Codebook(64, 4), width=4).eval()
    nn.init.normal_(model.codebook.table)
    codes = torch.randint(64, (1, 64))  # 8 × 8
    other = codes.clone()
    other[0, 8] = (codes[0, 8] + 1) % 64  # second row, at the left
    change = (model.decode(other) - model.decode(codes)).abs()[0, 0]
    assert change[4:8, :4].mean() > 2 * change[16:, 12:].mean()
    assert change[:, 24:].max() == change[24:].max() == 0  # far away


def test_learning_lowers_the_pictures_error():
    torch.manual_seed(0)
    model = VQAutoencoder(1, Codebook(8, 4), width=4)
    images = torch.rand(8, 1, 1, 1).expand(-1, 1, 8, 8).contiguous()
    model.codebook.restart_unused(model.annotate(images).detach())
    optimiser, errors = torch.optim.Adam(model.parameters(), 1e-2), []
    for _ in range(150):
        found, _, loss = model(images)
        errors.append(F.mse_loss(found, images))
        optimiser.zero_grad()
        (errors[-1] + loss).backward()
        optimiser.step()
    assert errors[-1] < 0.2 * errors[0]


@pytest.mark.parametrize("shape", [(3, 24, 24), (2, 4, 24, 24), (2, 3, 24, 20), (2, 3, 6, 6)])
def test_images_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"\(B, 3, H, W\).* 4"):
        VQAutoencoder(3, Codebook(4, 2), width=2).encode(torch.ones(shape))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float64])
def test_images_of_bytes_or_of_another_precision_are_refused(dtype):
    with pytest.raises(ValueError, match=rf" torch.float32.* {dtype}: "):
        VQAutoencoder(3, Codebook(4, 2), width=2).encode(torch.ones(1, 3, 8, 8, dtype=dtype))


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16])
def test_codes_of_a_small_kind_are_refused_before_they_are_taken_for_a_mask(book, dtype):
    codes = torch.ones(4, 4, dtype=dtype)
    for read in (book().vectors, VQAutoencoder(3, book(), width=2).decode):
        with pytest.raises(ValueError, match=r" int64.* \(4, 4\) "):
            read(codes)


@pytest.mark.parametrize("shape", [(36,), (2, 35), (2, 0), (2, 6, 6)])
def test_codes_of_no_square_are_refused(shape):
    with pytest.raises(ValueError, match="of a square grid"):
        VQAutoencoder(3, Codebook(4, 2), width=2).decode(torch.zeros(shape, dtype=torch.long))
