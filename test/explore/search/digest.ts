/** 53 bits of a text, as a number that a map keeps without a box of its own. Two independent halves, each mixed over every character. */
export function digest53(text: string): number {
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
    high ^= high >>> 15;
  }
  low = mixed(low);
  high = mixed(high ^ (low << 7));
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}

function mixed(value: number): number {
  let mix = value;
  mix = Math.imul(mix ^ (mix >>> 16), 0x7feb352d);
  mix = Math.imul(mix ^ (mix >>> 15), 0x846ca68b);
  return mix ^ (mix >>> 16);
}
