/** What needs Node.js: files. */
export { withFileLock } from "./file-lock.ts";
export { type FileSecrets, type FileSecretsOptions, fileSecrets } from "./file-secrets.ts";
export { masterKeyFile } from "./master-key-file.ts";
export { type OpenSecretFilesOptions, openSecretFiles } from "./open-secret-files.ts";
export { type Argon2Cost, argon2Cost } from "./passphrase-key.ts";
export { type SqliteSecrets, type SqliteSecretsOptions, sqliteSecrets } from "./sqlite-secrets.ts";
