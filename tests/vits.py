"""Names and shapes of the weights of a base Vision Transformer, patches of 16, as others store it.

Each name and the axes of its weight; {} counts the blocks.
"""

TIMM = {  # vit_base_patch16_224
    "cls_token": (1, 1, 768),
    "pos_embed": (1, 197, 768),
    "patch_embed.proj.weight": (768, 3, 16, 16),
    "patch_embed.proj.bias": (768,),
    "blocks.{}.norm1.weight": (768,),
    "blocks.{}.norm1.bias": (768,),
    "blocks.{}.attn.qkv.weight": (2304, 768),
    "blocks.{}.attn.qkv.bias": (2304,),
    "blocks.{}.attn.proj.weight": (768, 768),
    "blocks.{}.attn.proj.bias": (768,),
    "blocks.{}.norm2.weight": (768,),
    "blocks.{}.norm2.bias": (768,),
    "blocks.{}.mlp.fc1.weight": (3072, 768),
    "blocks.{}.mlp.fc1.bias": (3072,),
    "blocks.{}.mlp.fc2.weight": (768, 3072),
    "blocks.{}.mlp.fc2.bias": (768,),
    "norm.weight": (768,),
    "norm.bias": (768,),
    "head.weight": (1000, 768),
    "head.bias": (1000,),
}
TORCHVISION = {  # vit_b_16
    "class_token": (1, 1, 768),
    "conv_proj.weight": (768, 3, 16, 16),
    "conv_proj.bias": (768,),
    "encoder.pos_embedding": (1, 197, 768),
    "encoder.layers.encoder_layer_{}.ln_1.weight": (768,),
    "encoder.layers.encoder_layer_{}.ln_1.bias": (768,),
    "encoder.layers.encoder_layer_{}.self_attention.in_proj_weight": (2304, 768),
    "encoder.layers.encoder_layer_{}.self_attention.in_proj_bias": (2304,),
    "encoder.layers.encoder_layer_{}.self_attention.out_proj.weight": (768, 768),
    "encoder.layers.encoder_layer_{}.self_attention.out_proj.bias": (768,),
    "encoder.layers.encoder_layer_{}.ln_2.weight": (768,),
    "encoder.layers.encoder_layer_{}.ln_2.bias": (768,),
    "encoder.layers.encoder_layer_{}.mlp.0.weight": (3072, 768),
    "encoder.layers.encoder_layer_{}.mlp.0.bias": (3072,),
    "encoder.layers.encoder_layer_{}.mlp.3.weight": (768, 3072),
    "encoder.layers.encoder_layer_{}.mlp.3.bias": (768,),
    "encoder.ln.weight": (768,),
    "encoder.ln.bias": (768,),
    "heads.head.weight": (1000, 768),
    "heads.head.bias": (1000,),
}
OLDER = {"mlp.0": "mlp.linear_1", "mlp.3": "mlp.linear_2"}  # in torchvision's files of before 2022


def layers(table: dict[str, tuple[int, ...]], n_layers: int) -> dict[str, tuple[int, ...]]:
    """The names and axes of all blocks."""
    return {name.format(i): axes for i in range(n_layers) for name, axes in table.items()}


def resized(axes: tuple[int, ...], sizes: dict[int, int]) -> tuple[int, ...]:
    """The axes of a smaller model's weight: another size for each."""
    return tuple(sizes.get(size, size) for size in axes)
