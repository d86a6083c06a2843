import { type RandomSource, randomOf } from "./random.ts";

export interface GenerateWebOptions {
  /** The same seed gives the same web. */
  readonly seed: number;
  /** Default 3. */
  readonly questions?: number;
  /** Pages of each question, at least 30. Default 30. */
  readonly pagesPerQuestion?: number;
}

/** A fact that one page states, and no other. */
export interface WebFact {
  /** What is asked for, for example `height`. */
  readonly attribute: string;
  /** Drawn by the seed: no script can know it. */
  readonly value: string;
  /** The sentence as it stands on the page. */
  readonly statement: string;
  /** Path of the page. */
  readonly path: string;
}

export interface WebQuestion {
  readonly question: string;
  /** What it is about, for example `Varnholt lighthouse`. */
  readonly subject: string;
  /** All of them belong to a complete answer. */
  readonly facts: readonly WebFact[];
  /** Path of a page from which every page of the question can be reached by links. */
  readonly startPath: string;
}

export interface GeneratedPage {
  readonly path: string;
  readonly title: string;
  /** Paragraphs without markup. */
  readonly text: string;
  readonly html: string;
  /** Paths. */
  readonly links: readonly string[];
}

/** Linked pages about made-up things, with facts drawn by a seed. */
export interface GeneratedWeb {
  readonly questions: readonly WebQuestion[];
  readonly pages: readonly GeneratedPage[];
}

const attributes: readonly (readonly [string, (random: RandomSource) => string])[] = [
  ["height", (random) => `${random.between(21, 97)} metres`],
  ["year of construction", (random) => `${random.between(1811, 1988)}`],
  ["architect", (random) => `${random.pick(given)} ${random.name()}`],
  ["cost of construction", (random) => `${random.between(100, 999)},${random.between(100, 999)} crowns`],
  ["number of steps", (random) => `${random.between(112, 689)}`],
  ["name of the first keeper", (random) => `${random.pick(given)} ${random.name()}`],
];
const given = ["Ada", "Berend", "Clara", "Dirk", "Elin", "Frode", "Greta", "Hanno", "Ida", "Joris"];
const kinds = ["lighthouse", "observatory", "windmill", "bridge tower", "water tower", "bell tower"];
const asides = [
  "Visitors reach it by a path along the coast, which is closed when the wind is strong.",
  "A small museum in the village keeps letters, drawings and tools from the first years.",
  "The walls were painted again after the storm, in the colours that old photographs show.",
  "Every summer a fair takes place in front of it, with music until late in the evening.",
  "Records of the parish mention it often, and they do not always agree with one another.",
];

/** Questions, each with pages: some state one fact of the answer, the others the same attributes of other things, with values of their own. */
export function generateWeb(options: GenerateWebOptions): GeneratedWeb {
  const random = randomOf(options.seed);
  const count = options.questions ?? 3;
  const pagesEach = Math.max(30, options.pagesPerQuestion ?? 30);
  const questions: WebQuestion[] = [];
  const pages: GeneratedPage[] = [];
  for (let at = 0; at < count; at++) {
    const made = webOf(random, at, pagesEach);
    questions.push(made.question);
    pages.push(...made.pages);
  }
  return { questions, pages };
}

function webOf(
  random: RandomSource,
  at: number,
  count: number,
): { readonly question: WebQuestion; readonly pages: readonly GeneratedPage[] } {
  const kind = kinds[at % kinds.length] ?? "tower";
  const subject = `${random.name()} ${kind}`;
  const paths = Array.from({ length: count }, (_, index) =>
    index === 0 ? `/${at + 1}/` : `/${at + 1}/${random.name().toLowerCase()}-${index}`,
  );
  // The first page is the way in; facts lie on others, drawn by the seed.
  const holders = random.shuffle(paths.slice(1)).slice(0, attributes.length);
  const facts = attributes.map(([attribute, draw], index): WebFact => {
    const value = draw(random);
    return { attribute, value, statement: `The ${attribute} of the ${subject} is ${value}.`, path: holders[index] ?? "" };
  });
  const others = paths.map(() => otherThan(subject, () => `${random.name()} ${kind}`));
  const pages = paths.map((path, index) => {
    const own = facts.filter((fact) => fact.path === path);
    const about = own.length > 0 || index === 0 ? subject : (others[index] ?? "");
    const topic = own[0]?.attribute ?? (index === 0 ? "overview" : "history");
    const [attribute, draw] = random.pick(attributes);
    const statements = [
      ...own.map(({ statement }) => statement),
      ...(about === subject ? [] : [`The ${attribute} of the ${about} is ${draw(random)}.`]),
    ];
    const links = linksOf(paths, index, random);
    return pageOf({
      path,
      title: `${about}: ${topic}`,
      paragraphs: [random.pick(asides), ...statements, ...random.shuffle(asides).slice(0, 2)],
      links,
    });
  });
  const names = attributes.map(([attribute]) => attribute);
  const question = `What are the ${names.slice(0, -1).join(", ")} and ${names.at(-1)} of the ${subject}?`;
  return { question: { question, subject, facts, startPath: paths[0] ?? "/" }, pages };
}

function otherThan(taken: string, draw: () => string): string {
  for (;;) {
    const drawn = draw();
    if (drawn !== taken) return drawn;
  }
}

/** A tree of three links each, so that every page can be reached, and two links across. */
function linksOf(paths: readonly string[], index: number, random: RandomSource): readonly string[] {
  const children = paths.slice(3 * index + 1, 3 * index + 4);
  const across = [random.pick(paths), random.pick(paths)];
  return [...new Set([...children, ...across])].filter((path) => path !== paths[index]);
}

interface PageParts {
  readonly path: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly links: readonly string[];
}

function pageOf({ path, title, paragraphs, links }: PageParts): GeneratedPage {
  const list = links.map((link) => `<li><a href="${link}">${titleOf(link)}</a></li>`).join("");
  const body = `<article><h1>${title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join("")}</article><nav><ul>${list}</ul></nav>`;
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`;
  return { path, title, text: paragraphs.join("\n"), html, links };
}

const titleOf = (path: string): string => path.split("/").at(-1)?.replace(/-\d+$/, "") || "overview";
