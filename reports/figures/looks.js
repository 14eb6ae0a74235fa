// How series look. The id of a variant decides its colour, on every page alike; what the colour leaves open decides
// shape and dash. No two series of a figure share colour and shape.
const COLOURS_HELD = 12;
const SHAPES = [
  "circle", "triangle-up", "square", "diamond", "cross", "triangle-down", "triangle-right",
  "M-1,-0.6L-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0Z"
];
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4], [12, 4], [1, 2], [6, 2, 2, 2]];

// Colours of names that often share a figure: orders, with what else an id says, kernels and libraries. A
// longer name takes the colour of its beginning, and any other name one by its letters.
const COLOUR_PLACES = {
  linear: 0, hilbert: 1, boxes: 2, morton: 3, residue_boxes: 4, snake: 5, residue_hilbert: 6, random: 7, residue: 8,
  moore: 9, gray: 10, bitrev_residue: 11, "hilbert@tokens": 9, "hilbert@keys": 10, "hilbert.fresh": 6,
  "hilbert.computed": 5,
  "hilbert.fresh.computed": 11, "hilbert.slot": 6, "residue.slot": 2, "random.slot": 4, "linear.gathered": 4,
  "residue.gathered": 5, "linear.fresh": 8, "linear.computed": 2, "linear.fresh.computed": 10, "linear.zigzag": 6,
  "linear.contiguous": 1, "linear.striped": 3, "linear/ring_packed": 2, "linear/allgather": 5,
  "linear/allgather_packed": 9, "linear/ulysses": 10, "linear/ulysses.parts1": 11, "linear/head_major": 8,
  dilated: 0, dilated_cpu: 0, dilated_wgmma: 0, dilated_mma: 1, dilated_simt: 3, boxes_wgmma: 2, cublas: 4, gemm: 4,
  torch_windows: 4, "torch_windows.flex": 11, "torch_windows.flex_boxes": 8, "torch_windows.natten": 10,
  torch_sdpa: 6, "torch_sdpa.fa3": 10, "torch_sdpa.cudnn": 8, "torch_sdpa.flash": 5, "torch_sdpa.efficient": 3,
  "torch_sdpa.math": 2, "torch_sdpa.fa4": 11, "torch_sdpa.flex": 1, cudnn: 9, cudnn_gather: 11, jax_fa3: 3, jax_ring: 6,
  "torch_context_parallel.allgather": 5, "torch_context_parallel.ring": 9, longnet_allgather: 4, "origin.off": 0,
  "origin.on": 1, "origin.bijection": 2, "origin.identity_gather": 4, "origin.core": 5,
};

const byLetters = (text) => [...text].reduce((sum, letter) => (31 * sum + letter.codePointAt(0)) % 9973, 0);

// The longest beginning of `name` that COLOUR_PLACES holds, and what is left: of "hilbert.slot.x" "hilbert.slot", ".x".
function listedPart(name) {
  const before = (end) => Math.max(...["/", ".", "@", ","].map((mark) => name.lastIndexOf(mark, end - 1)));
  for (let end = name.length; end > 0; end = before(end))
    if (Object.hasOwn(COLOUR_PLACES, name.slice(0, end))) return [name.slice(0, end), name.slice(end)];
  return [null, name];
}

// Nothing for the name of a series that is no variant and no library.
function preferredLook(name) {
  const [, kernel, order] = /^([^/]*)\/(.*)$/s.exec(name) ?? [];
  const said = (order ?? name).replace(".qkv", ""), [listed, left] = listedPart(said);
  if (!listed && !order && !DATA.variants.some((variant) => variant.id === name)) return null;
  const colour = listed ? COLOUR_PLACES[listed] : byLetters(said) % COLOURS_HELD;
  const rest = `${kernel && kernel !== "dilated" ? kernel : ""}${listed ? left : ""}`;
  const shape = colour + 2 * Math.floor(colour / SHAPES.length) + byLetters(rest);
  return {colour, shape: shape % SHAPES.length};
}

// The look nearest to `wanted` that `taken` does not hold: another shape first, then another colour. `keyOf` says what
// may not be shared.
function freeLook(wanted, taken, keyOf) {
  for (let turn = 0; turn < COLOURS_HELD; ++turn)
    for (let step = 0; step < SHAPES.length; ++step) {
      const look = {colour: (wanted.colour + 5 * turn) % COLOURS_HELD, shape: (wanted.shape + step) % SHAPES.length};
      if (taken.has(keyOf(look))) continue;
      taken.add(keyOf(look));
      return look;
    }
  return wanted;
}

const colourAndShape = ({colour, shape}) => `${colour}/${shape}`;
const variantLooks = (() => {
  const taken = new Set();
  return new Map(DATA.variants.map(({id}) => [id, freeLook(preferredLook(id), taken, colourAndShape)]));
})();

// A look for each name of `series`. Bars show no shape, so no two of them share a colour.
function looksOf(series, bars = false) {
  const looks = new Map(), taken = new Set(), keyOf = bars ? ({colour}) => colour : colourAndShape;
  const names = [...new Map(series.map((one, at) => [one.name, [one, at]])).values()];
  const known = ([{name}]) => variantLooks.has(name);
  for (const [one, at] of [...names.filter(known), ...names.filter((each) => !known(each))]) {
    const wanted = variantLooks.get(one.name) ?? preferredLook(one.name) ??
        {colour: at % COLOURS_HELD, shape: at % SHAPES.length};
    const {colour, shape} = one.paint ? wanted : freeLook(wanted, taken, keyOf);
    looks.set(one.name, {
      colour: paint(one.paint ?? `--series-${colour}`),
      shape,
      dash: one.dash ?? (one.paint ? [] : DASHES[(shape + colour) % DASHES.length])
    });
  }
  return looks;
}
