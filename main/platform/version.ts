import packageDescription from '../../package.json' with { type: 'json' };

/** The version of Holdfast, as published. */
export const VERSION: string = packageDescription.version;
