"""baselines/external/jax_fa3.py, named by JAX_FA3, on a processor of JAX.

KERNELS=plain puts plain functions in the place of flash-attn3-jax, which need not be installed; KERNELS=package keeps
the package and replaces only what its kernels compute.
"""

import importlib.util
import os
import sys
import types

os.environ["JAX_PLATFORMS"] = "cpu"


def scores(q, k, scale, causal):
    import jax
    jnp = jax.numpy
    found = jnp.einsum("nlhd,nmhd->nhlm", q, k) * scale
    return jnp.where(jnp.tril(jnp.ones(found.shape[2:], bool)), found, -jnp.inf) if causal else found


def widened(x, heads):
    import jax
    return jax.numpy.repeat(x, heads // x.shape[2], axis=2).astype(jax.numpy.float32)


def attend(q, k, v, softmax_scale, is_causal, window_size):
    """O in the dtype of Q, and the LSE as [batch, heads, rows]."""
    import jax
    jnp = jax.numpy
    k, v = (widened(x, q.shape[2]) for x in (k, v))
    s = scores(q.astype(jnp.float32), k, softmax_scale, is_causal)
    lse = jax.nn.logsumexp(s, axis=3)
    return jnp.einsum("nhlm,nmhd->nlhd", jnp.exp(s - lse[..., None]), v).astype(q.dtype), lse


def gradients(d_o, q, k, v, o, lse, softmax_scale, is_causal, window_size):
    import jax
    jnp = jax.numpy
    heads, kv_heads, kind = q.shape[2], k.shape[2], q.dtype
    assert lse.shape == (q.shape[0], heads, q.shape[1]) and lse.dtype == jnp.float32
    q, k, v, d_o, o = (widened(x, heads) for x in (q, k, v, d_o, o))
    p = jnp.exp(scores(q, k, softmax_scale, is_causal) - lse[..., None])
    delta = (d_o * o).sum(3).swapaxes(1, 2)[..., None]
    d_s = softmax_scale * p * (jnp.einsum("nlhd,nmhd->nhlm", d_o, v) - delta)
    d_k, d_v = (jnp.einsum("nhlm,nlhd->nmhd", a, b) for a, b in ((d_s, q), (p, d_o)))
    d_k, d_v = (x.reshape(*x.shape[:2], kv_heads, -1, x.shape[3]).sum(3) for x in (d_k, d_v))
    return [x.astype(kind) for x in (jnp.einsum("nhlm,nmhd->nlhd", d_s, k), d_k, d_v)]


def replace_package():
    package = types.ModuleType("flash_attn3_jax")
    package.__version__, package.flash_mha = "0.2.3", None
    package.flash_hlo = types.ModuleType("flash_attn3_jax.flash_hlo")
    package.flash_hlo._flash_mha_fwd_hlo, package.flash_hlo._flash_mha_bwd_hlo = attend, gradients
    sys.modules.update({"flash_attn3_jax": package, "flash_attn3_jax.flash_hlo": package.flash_hlo})


def replace_kernels():
    """The package says what its primitives become on GPUs only; this says it for processors."""
    from flash_attn3_jax import flash_hlo
    from jax.interpreters import mlir
    for primitive, function in ((flash_hlo._flash_mha_fwd_hlo_p, attend), (flash_hlo._flash_mha_bwd_hlo_p, gradients)):
        mlir.register_lowering(primitive, mlir.lower_fun(function), platform="cpu")


sys.path.insert(0, os.path.dirname(os.environ["JAX_FA3"]))  # for the modules that it imports
specification = importlib.util.spec_from_file_location("jax_fa3", os.environ["JAX_FA3"])
jax_fa3 = importlib.util.module_from_spec(specification)
specification.loader.exec_module(jax_fa3)


class OneGpu(jax_fa3.OneGpu):
    def hello(self, protocol):
        jax_fa3.jax_ring.capability = lambda device: "9.0"
        if os.environ["KERNELS"] == "plain":
            replace_package()
        answer = super().hello(protocol)
        if os.environ["KERNELS"] == "package":
            replace_kernels()
        jax_fa3.jax_ring.gpus = lambda: jax_fa3.jax.devices("cpu")
        return answer


jax_fa3.serve(OneGpu(), jax_fa3.first_line)
