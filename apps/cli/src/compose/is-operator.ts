/** True for callers that administer their scope: those of this machine's own token, services, and those with the role `admin`. */
export const isOperator = ({ trusted, roles = [] }: { readonly trusted?: boolean; readonly roles?: readonly string[] }): boolean =>
  trusted === true || roles.includes("admin") || roles.includes("service");
