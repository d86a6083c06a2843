/** What a person types for this program: `npm start --` in a clone, where nothing is installed under its own name. */
export const commandName = (): string => process.env["LOOPWRIGHT_COMMAND"] ?? "loopwright";
