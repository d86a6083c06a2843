import type { Decimal } from "decimal.js";
import { badArguments } from "./bad-arguments.ts";
import { constants, functions, operators } from "./decimal-functions.ts";
import { nextToken, type Token } from "./expression-token.ts";

/** Parentheses, signs and powers inside each other. */
const nestingMax = 100;

/** The value of the expression. Only arithmetic is evaluated. @throws AgentError TOOL_ARGUMENTS with the position and the cause. */
export function evaluate(expression: string): Decimal {
  const parser = new Parser(expression);
  return parser.whole();
}

/**
 * Reads and calculates in one pass: sum := product (+|- product)*, product := sign (*|/|% sign)*, sign := (+|-) sign | power,
 * power := factorial (^ sign)?, factorial := atom !*, atom := number | name | name(sum, ...) | (sum).
 */
class Parser {
  private token: Token;
  private depth = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
    this.token = nextToken(text, 0);
  }

  whole(): Decimal {
    if (this.isAtEnd()) throw badArguments("The expression is empty.");
    const value = this.sum();
    if (!this.isAtEnd()) throw this.unexpected();
    return value;
  }

  private sum(): Decimal {
    let value = this.product();
    while (this.isSymbol("+") || this.isSymbol("-")) {
      const operator = this.take();
      value = operators.apply(operator, [value, this.product()]);
    }
    return value;
  }

  private product(): Decimal {
    let value = this.sign();
    while (this.isSymbol("*") || this.isSymbol("/") || this.isSymbol("%")) {
      const operator = this.take();
      value = operators.apply(operator, [value, this.sign()]);
    }
    return value;
  }

  private sign(): Decimal {
    if (!this.isSymbol("+") && !this.isSymbol("-")) return this.power();
    const isMinus = this.take() === "-";
    const value = this.nested(() => this.sign());
    return isMinus ? value.negated() : value;
  }

  private power(): Decimal {
    const base = this.factorial();
    if (!this.isSymbol("^")) return base;
    this.take();
    return operators.apply("^", [base, this.nested(() => this.sign())]);
  }

  private factorial(): Decimal {
    let value = this.atom();
    while (this.isSymbol("!")) {
      this.take();
      value = operators.apply("!", [value]);
    }
    return value;
  }

  private atom(): Decimal {
    const { token } = this;
    if (token.type === "number") {
      this.advance();
      return operators.number(token.text);
    }
    if (token.type === "name") {
      this.advance();
      return this.isSymbol("(") ? this.call(token) : this.constant(token);
    }
    if (!this.isSymbol("(")) throw this.unexpected();
    this.advance();
    const value = this.nested(() => this.sum());
    this.expect(")");
    return value;
  }

  private constant({ text, at }: Token): Decimal {
    const value = constants.get(text.toLowerCase());
    if (value) return value;
    const hint = functions.names.has(text.toLowerCase())
      ? `\`${text}\` is a function: write ${text}(...).`
      : `Known names: ${[...constants.keys()].join(", ")}.`;
    throw badArguments(`There is no constant \`${text}\` (character ${at + 1}).`, hint);
  }

  private call({ text, at }: Token): Decimal {
    const name = text.toLowerCase();
    if (!functions.names.has(name))
      throw badArguments(`There is no function \`${text}\` (character ${at + 1}).`, `Known functions: ${[...functions.names].join(", ")}.`);
    this.advance();
    const values: Decimal[] = [];
    while (!this.isSymbol(")")) {
      if (values.length > 0) this.expect(",");
      values.push(this.nested(() => this.sum()));
    }
    this.advance();
    return functions.apply(name, values);
  }

  private nested(read: () => Decimal): Decimal {
    if (++this.depth > nestingMax) throw badArguments(`The expression is nested deeper than ${nestingMax} levels.`, "Split it.");
    const value = read();
    this.depth--;
    return value;
  }

  private isAtEnd(): boolean {
    return this.token.type === "end";
  }

  private isSymbol(symbol: string): boolean {
    return this.token.type === "symbol" && this.token.text === symbol;
  }

  private take(): string {
    const { text } = this.token;
    this.advance();
    return text;
  }

  private advance(): void {
    this.token = nextToken(this.text, this.token.end);
  }

  private expect(symbol: string): void {
    if (!this.isSymbol(symbol)) throw this.unexpected(symbol);
    this.advance();
  }

  private unexpected(wanted?: string): Error {
    const { type, text, at } = this.token;
    const seen = type === "end" ? "The expression ends too early" : `Unexpected \`${text}\` at character ${at + 1}`;
    return badArguments(wanted === undefined ? `${seen}.` : `${seen}: \`${wanted}\` was expected.`, "Correct the expression.");
  }
}
