"""baselines/external/jax_ring.py, named by JAX_RING, with processors of JAX in the place of GPUs.

KERNELS=plain puts a plain function in the place of flash-attn3-jax, which need not be installed. KERNELS=package keeps
the package's own ring and replaces only its kernels. A further request, "place", answers which rows of Q, K and V each
device has, and the capability of the devices can be set by "pretend".
"""

import importlib.util
import math
import os
import sys
import types

os.environ.update(XLA_FLAGS="--xla_force_host_platform_device_count=4", JAX_PLATFORMS="cpu")


def attend(q, k, v, softmax_scale=None, is_causal=False, window_size=(-1, -1)):
    """O in the dtype of Q, and the LSE as [batch, heads, rows]."""
    import jax
    jnp = jax.numpy
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2).astype(jnp.float32) for x in (k, v))
    scores = jnp.einsum("nlhd,nmhd->nhlm", q.astype(jnp.float32), k) * (softmax_scale or 1 / math.sqrt(q.shape[3]))
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[2:], bool)), scores, -jnp.inf)
    lse = jax.nn.logsumexp(scores, axis=3)
    return jnp.einsum("nhlm,nmhd->nlhd", jnp.exp(scores - lse[..., None]), v).astype(q.dtype), lse


def replace_package():
    package = types.ModuleType("flash_attn3_jax")
    package.__version__ = "0.2.3"
    package.flash_mha = lambda *qkv, **options: attend(*qkv, **options)[0]
    sys.modules["flash_attn3_jax"] = package


def replace_kernels():
    """The package says what its primitives become on GPUs only; this says it for processors."""
    from flash_attn3_jax import flash, flash_hlo, flash_sharding
    from jax.interpreters import mlir
    mlir.register_lowering(flash_hlo._flash_mha_fwd_hlo_p, mlir.lower_fun(attend), platform="cpu")
    mlir.register_lowering(flash._flash_mha_fwd_p, mlir.lower_fun(flash_sharding._flash_mha_fwd_hlo_sharded),
                           platform="cpu")


sys.path.insert(0, os.path.dirname(os.environ["JAX_RING"]))  # for the modules that it imports
specification = importlib.util.spec_from_file_location("jax_ring", os.environ["JAX_RING"])
jax_ring = importlib.util.module_from_spec(specification)
specification.loader.exec_module(jax_ring)


class Ring(jax_ring.Ring):
    def hello(self, protocol):
        jax_ring.capability = lambda device: "9.0"
        if os.environ["KERNELS"] == "plain":
            replace_package()
        answer = super().hello(protocol)
        if os.environ["KERNELS"] == "package":
            replace_kernels()
        jax_ring.gpus = lambda: jax_ring.jax.devices("cpu")
        return answer

    def pretend(self, capability):
        jax_ring.capability = lambda device: capability
        return {}

    def place(self, *arguments):
        if arguments:
            return super().place(*arguments)
        return {"rows": [[[shard.device.id, *shard.index[1].indices(tensor.shape[1])[:2]]
                          for shard in tensor.addressable_shards] for tensor in self.shards]}


jax_ring.serve(Ring(), jax_ring.first_line)
