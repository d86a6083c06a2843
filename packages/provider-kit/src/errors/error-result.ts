const mark = "Error: ";

/**
 * The text of a tool's result that is an error, for a vendor whose results have no field for it: `Error: ` stands before it, once. Never blank.
 */
export function errorResultText(text: string): string {
  if (text.trim() === "") return `${mark}the tool failed.`;
  return text.startsWith(mark) ? text : `${mark}${text}`;
}
