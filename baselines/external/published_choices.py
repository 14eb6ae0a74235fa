"""With which block size and options FlexAttention was fastest in published records: on the same GPU and PyTorch nobody
need search again. reports/publish/flex_choices.py writes the lines between the marks.
"""

import json

FIELDS = ("grid", "window", "window_dilation", "window_stride", "window_causal", "edges", "causal", "batch", "heads",
          "kv_heads", "head_dim", "dtype")


def case_key(fields, boxes):
    """`fields` of a case with a grid, of the protocol or of a record."""
    return json.dumps([fields[name] for name in FIELDS] + [boxes], separators=(",", ":"))


# (GPU, PyTorch): FIELDS and whether positions are stored in boxes: (block size, options)
PUBLISHED = {
    # generated
    ('NVIDIA H100 80GB HBM3', '2.11.0+cu130'): {
        '[[128,128],[13,13],[1,1],[1,1],[false,false],"shift",false,1,16,16,128,"bf16",false]':
            (64, {'USE_TMA': True}),
        '[[128,128],[13,13],[1,1],[1,1],[false,false],"shift",false,1,16,16,128,"bf16",true]':
            (64, {}),
        '[[128,128],[31,31],[1,1],[1,1],[false,false],"shift",false,1,16,16,128,"bf16",false]':
            (64, {'USE_TMA': True}),
        '[[128,128],[31,31],[1,1],[1,1],[false,false],"shift",false,1,16,16,128,"bf16",true]':
            (64, {'USE_TMA': True}),
        '[[16,32,32],[8,16,16],[1,1,1],[1,1,1],[false,false,false],"shift",false,1,16,16,128,"bf16",false]':
            (64, {'USE_TMA': True}),
        '[[16,32,32],[8,16,16],[1,1,1],[1,1,1],[false,false,false],"shift",false,1,16,16,128,"bf16",true]':
            (64, {'USE_TMA': True}),
        '[[30,48,80],[18,24,24],[1,1,1],[6,8,8],[false,false,false],"shift",false,1,24,24,128,"bf16",false]':
            (128, {'USE_TMA': True}),
        '[[30,48,80],[18,24,24],[1,1,1],[6,8,8],[false,false,false],"shift",false,1,24,24,128,"bf16",true]':
            (128, {'USE_TMA': True}),
        '[[30,48,80],[30,40,40],[1,1,1],[6,8,8],[false,false,false],"shift",false,1,24,24,128,"bf16",false]':
            (64, {}),
        '[[30,48,80],[30,40,40],[1,1,1],[6,8,8],[false,false,false],"shift",false,1,24,24,128,"bf16",true]':
            (128, {'USE_TMA': True}),
        '[[32,48,80],[18,24,24],[1,1,1],[1,1,1],[false,false,false],"shift",false,1,16,16,128,"bf16",false]':
            (64, {'USE_TMA': True}),
        '[[32,48,80],[18,24,24],[1,1,1],[1,1,1],[false,false,false],"shift",false,1,16,16,128,"bf16",true]':
            (64, {'USE_TMA': True}),
        '[[64,64],[13,13],[1,1],[1,1],[false,false],"shift",false,1,16,16,128,"bf16",false]':
            (64, {}),
        '[[64,64],[13,13],[1,1],[1,1],[false,false],"shift",false,1,16,16,128,"bf16",true]':
            (64, {}),
        '[[90,160],[31,31],[1,1],[1,1],[false,false],"shift",false,1,16,16,128,"bf16",false]':
            (64, {'USE_TMA': True}),
        '[[90,160],[31,31],[1,1],[1,1],[false,false],"shift",false,1,16,16,128,"bf16",true]':
            (64, {}),
    },
    # end
}


def published_choice(gpu, version, fields, boxes):
    """As KeptChoice.read gives it; None if nothing was published."""
    found = PUBLISHED.get((gpu, version), {}).get(case_key(fields, boxes))
    return found and {"size": found[0], "options": dict(found[1]), "left_out": [], "untried": []}
