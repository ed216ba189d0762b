/** The application itself, and importing into its archive. */

export interface ApplicationInfo {
  version: string;
  host: 'desktop' | 'browser';
  dataDirectory: string;
  demo: boolean;
}

export interface ImportReport {
  read: number;
  newlyArchived: number;
  alreadyArchived: number;
  /** The first bad lines, by number; `bad` counts all. */
  problems: { line: number; message: string }[];
  bad: number;
}
