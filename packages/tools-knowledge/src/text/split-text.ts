/** Where a text may be cut, the best place first: before a heading, between paragraphs, lines, sentences, words. */
const borders: readonly RegExp[] = [/\n(?=#{1,6} )/g, /\n[ \t]*\n/g, /\n/g, /[.!?。！？]\s/g, /\s/g];

/** A cut before this part of the room would make crumbs. */
const leastShare = 0.5;

/**
 * The text in passages of at most `max` characters, in order, none blank. A passage ends at the best border of its second half; only a text without
 * any is cut inside a word, and no character is cut in two.
 */
export function splitText(text: string, max: number): readonly string[] {
  const passages: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.length - from <= max ? text.length : from + cutOf(text.slice(from, from + max));
    const passage = text.slice(from, end).trim();
    if (passage !== "") passages.push(passage);
    from = end;
  }
  return passages;
}

/** Parts, each whole where it fits, joined by line breaks into passages of at most `max` characters. */
export function joinParts(parts: readonly string[], max: number): readonly string[] {
  const passages: string[] = [];
  let open = "";
  for (const part of parts.flatMap((each) => splitText(each, max))) {
    if (open !== "" && open.length + 1 + part.length > max) {
      passages.push(open);
      open = "";
    }
    open = open === "" ? part : `${open}\n${part}`;
  }
  return open === "" ? passages : [...passages, open];
}

/** Where to end a passage that fills `room`. */
function cutOf(room: string): number {
  const least = Math.floor(room.length * leastShare);
  for (const border of borders) {
    let cut = 0;
    for (const match of room.matchAll(border)) cut = match.index + match[0].length;
    if (cut > least) return cut;
  }
  const last = room.charCodeAt(room.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? room.length - 1 : room.length;
}
