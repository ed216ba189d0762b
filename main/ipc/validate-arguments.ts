import * as v from 'valibot';
import type { Method, Methods, Topic, Topics } from '../../preload/contract.ts';
import { Fault } from '../platform/fault.ts';
import { methodSchemas, topicSchemas } from './argument-schemas.ts';

/** True for the name of a method of the contract. */
export function isMethod(name: unknown): name is Method {
  return typeof name === 'string' && Object.hasOwn(methodSchemas, name);
}

/** True for the name of a topic of the contract. */
export function isTopic(name: unknown): name is Topic {
  return typeof name === 'string' && Object.hasOwn(topicSchemas, name);
}

/** The arguments of a call, checked; throws `invalid-argument` naming the first thing that is wrong. */
export function validateMethodArguments<M extends Method>(method: M, args: unknown): Methods[M]['args'] {
  return validate<Methods[M]['args']>(method, methodSchemas[method], args);
}

/** The arguments of a subscription, checked; throws `invalid-argument` naming the first thing that is wrong. */
export function validateTopicArguments<T extends Topic>(topic: T, args: unknown): Topics[T]['args'] {
  return validate<Topics[T]['args']>(topic, topicSchemas[topic], args);
}

function validate<Args>(name: string, schema: v.GenericSchema<unknown, Args>, args: unknown): Args {
  // To the schema library a list is an object too.
  if (Array.isArray(args)) throw new Fault('invalid-argument', `${name}: expected named arguments, not a list.`);
  const parsed = v.safeParse(schema, withoutUndefined(args), { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue);
  throw new Fault(
    'invalid-argument',
    path === null ? `${name}: ${issue.message}.` : `${name}: “${path}” is not valid: ${issue.message}.`,
    { argument: path },
  );
}

/** JSON drops properties that are `undefined` and structured cloning keeps them; both transports shall mean the same. */
function withoutUndefined(args: unknown): unknown {
  if (typeof args !== 'object' || args === null) return args;
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}
