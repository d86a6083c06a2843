/** What an attempt threw; `undefined` when it threw nothing. */
export function failureIn(attempt: () => void): { readonly error: unknown } | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return { error };
  }
}
