/** The text of the last result that a model reads. */
export function finalText(messages: readonly object[]): string {
  const results = messages.filter((message) => (message as { readonly role: string }).role === "tool_result");
  const { content } = results.at(-1) as { readonly content: readonly { readonly text?: string; readonly value?: unknown }[] };
  return content.map(({ text, value }) => text ?? JSON.stringify(value)).join("");
}
