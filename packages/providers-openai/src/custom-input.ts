/** The pieces of a custom tool's free text as pieces of JSON arguments `{"input": text}`. A character cut in two stays whole: each half is escaped. */
export const customInput: { readonly open: string; piece(text: string): string; readonly close: string } = {
  open: '{"input":"',
  piece: (text: string): string => JSON.stringify(text).slice(1, -1),
  close: '"}',
};
