// The one argument is the call's arguments as JSON.
const { text } = JSON.parse(process.argv[2]);
const words = [...new Intl.Segmenter(process.env.WORD_COUNT_LOCALE, { granularity: "word" }).segment(text)].filter(
  (part) => part.isWordLike,
);
console.log(JSON.stringify({ words: words.length, lines: text.split("\n").length }));
