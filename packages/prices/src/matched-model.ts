/**
 * Whether a model of the price data is the one that was asked for. The data matches by the beginning of names, so that it
 * finds dated versions; it then also takes `gpt-5.7` for `gpt-5` and `x-mini` for `x`, which have prices of their own.
 */
export function isSameModel(asked: string, found: string): boolean {
  const name = asked.slice(asked.lastIndexOf("/") + 1).toLowerCase();
  const known = found.slice(found.lastIndexOf("/") + 1).toLowerCase();
  if (!name.startsWith(known)) return true;
  const rest = name.slice(known.length);
  return !/^[-.]\d{1,2}(?!\d)/.test(rest) && !/[-.](?:nano|micro|mini|lite|small|medium|large|pro|max|ultra|flash|turbo|fast)\b/.test(rest);
}
