/** The version in `package.json`, which not every runtime can read; a test compares them. */
export const serverVersion = "0.0.0";
