import { temporaryStore } from '../temporary.ts';
import { describeStore } from './contract.ts';

describeStore('the store', temporaryStore);
