/* Generated from the description of the API by `npm run client`: change the routes, not this file. */

export interface paths {
    "/api/v1/banners/names": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Name a banner, for reports and pages */
        post: operations["nameBanner"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List requests, newest first */
        get: operations["listCases"];
        put?: never;
        /**
         * Record a request received by letter, e-mail, phone or in person
         * @description The same reference opens the same case once.
         */
        post: operations["openCase"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases/{caseId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One request with its history, its deadline and what is missing */
        get: operations["getCase"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases/{caseId}/hand-overs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The links through which the pack of a request was handed over, newest first */
        get: operations["listHandOvers"];
        put?: never;
        /**
         * Hand over the pack of a request through a link and a code
         * @description The link and the code are only in this response. Send them to the requester through two different channels, then record the answer as a move.
         */
        post: operations["createHandOver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases/{caseId}/hand-overs/{handOverId}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a link at once */
        post: operations["revokeHandOver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases/{caseId}/letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a letter for a request
         * @description It is registered and cannot be changed; `mailLetter` sends it. Statements required by law are in the letter whatever the text. With `record`, the move that the letter belongs to is checked first, and recorded with the letter: nothing is made if it would be refused.
         */
        post: operations["makeLetter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases/{caseId}/letters/{documentId}/mail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail a letter to the requester, once
         * @description Returns the job that sends it. The letter is not sent if recording the answer would be refused.
         */
        post: operations["mailLetter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases/{caseId}/moves": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a move: confirm receipt, ask for identification, answer, refuse …
         * @description The fields of each move are listed under Moves below. A move that the law or the state forbids is refused with the reason; one based on an older version is a conflict.
         */
        post: operations["moveCase"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases/{caseId}/pack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create the response pack of a request
         * @description Returns the job that makes it; the job’s result names the document.
         */
        post: operations["makePack"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases/{caseId}/tasks/{task}/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a link that lets the owner of another system finish a task without an account
         * @description It replaces an earlier link to the task. Adding and finishing tasks and revoking links are moves: add-task, finish-task, unshare-task.
         */
        post: operations["shareTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cases/{caseId}/tasks/{task}/mail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail a task to its owner, with a link to it
         * @description Returns the job that sends it.
         */
        post: operations["mailTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Seal every entry so far under a signed checkpoint */
        post: operations["makeCheckpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consent/contradictions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Decisions whose records contradict each other: none of them counts as consent until this is resolved
         * @description Ordered by source, then by time. Without a period: the last 31 days.
         */
        get: operations["listContradictions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consent/contradictions/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record what was found out about contradictory decisions
         * @description One entry for each decision, all or none. It holds until another record of the decision arrives. Nothing counts as consent because of it.
         */
        post: operations["settleContradictions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consent/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The decisions of a period, by choice
         * @description Ordered by source, then by time. Without a period: the last 31 days.
         */
        get: operations["listDecisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consent/look-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * One person’s consent at a given time, by which decision and under which text
         * @description A POST, so that no identifier appears in a URL or a log. Each look-up is an entry of the ledger, without the identifier itself. Nothing found does not mean that no data is held (GDPR Art. 11(2)).
         */
        post: operations["lookUpConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consent/undelivered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Decisions in the service’s consent log that never arrived as a webhook
         * @description Ordered by source, then by time. Without a period: the last 31 days.
         */
        get: operations["listUndelivered"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/consent/undelivered/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record what was found out about undelivered decisions
         * @description One entry for each decision, all or none. It holds until another record of the decision arrives. Nothing counts as consent because of it.
         */
        post: operations["settleUndelivered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List stored deliveries, newest first */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deliveries/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Deliveries as they are stored, as server-sent events
         * @description Each event `delivery` is an item of `listDeliveries`, its id the number of the entry. A stream lasts at most a minute; then reconnect with the last id in the `Last-Event-ID` header (browsers and libraries do this) or in `after`. Without either it starts with new deliveries.
         */
        get: operations["followDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List registered documents, newest first */
        get: operations["listDocuments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/documents/{documentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One document: what it is, its hash and its entry */
        get: operations["getDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/documents/{documentId}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The file, if it is byte for byte what was registered
         * @description Each download is an entry of the ledger.
         */
        get: operations["downloadDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/entries/{seq}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One entry of the ledger with its bytes */
        get: operations["getEntry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/entries/{seq}/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The proof of an entry, for someone who has only the verifier key
         * @description The same as `consent-ledger ledger prove --json`, under the newest checkpoint; docs/proofs.md says how to check it. 409 if the entry is not sealed yet: a worker seals every five minutes, `makeCheckpoint` at once.
         */
        get: operations["getEntryProof"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/holds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Legal holds in force, oldest first */
        get: operations["listHolds"];
        put?: never;
        /** Prevent data from being erased: a request, a person, a period, or everything of a source */
        post: operations["placeHold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/holds/{holdId}/lift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lift a legal hold */
        post: operations["liftHold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The latest 100 documents, pulls, verifications, readings of earlier deliveries and calls to the service, waiting, running or finished */
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One job: its state, progress and result */
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{jobId}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A job’s progress, as server-sent events
         * @description Events `progress` with `done`, `total` and `text`, and `end` with the last `state`. A stream lasts at most a minute: open it again, or read the job, until it has ended.
         */
        get: operations["followJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{jobId}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a sync or a bulk generation
         * @description Its results stay, and starting the same again continues from there.
         */
        post: operations["stopJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whose token this is, and what it may do */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Policies that deliveries reported, at most 1000 */
        get: operations["listPolicies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have the service generate many policies, in batches within its limits
         * @description The same items are never sent twice: a list that was started before is continued, and its job is returned.
         */
        post: operations["startBulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/bulk/{planId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The result of each policy of a bulk generation */
        get: operations["getBulk"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Calls to the service that generate or publish, newest first, with their outcome */
        get: operations["listCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/calls/{requestId}/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Record the outcome of a call whose outcome is unknown, after checking it with the service */
        post: operations["settleCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have the service generate a policy
         * @description Returns the job that calls the service; the job’s result gives the policy id and the remaining quota. Nothing is sent while the outcome of an identical request is unknown, unless `again` is set.
         */
        post: operations["generatePolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fetch the service’s list of published policies into the catalogue now */
        post: operations["fetchPolicyList"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish a policy
         * @description A policy that belongs to another source according to the ledger is not found. The service publishes its current saved text, which cannot be read before; unlike on the page, nothing is recorded about what was shown.
         */
        post: operations["publishPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/texts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The texts of a policy, one after the other, with the times between which each was seen */
        get: operations["listPolicyTexts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an audit report for a period
         * @description Returns the job that makes it; the job’s result names the document.
         */
        post: operations["makeReport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Scheduled reports */
        get: operations["listSchedules"];
        put?: never;
        /** Schedule a report: it is filed each time, and mailed to people with an account */
        post: operations["addSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{scheduleId}/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove a scheduled report of a source; its documents stay */
        post: operations["removeSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The sources that you can see, without their credentials */
        get: operations["listSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sources/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One source: its webhook address, its last delivery and sync, and the state of its signing secrets */
        get: operations["getSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sources/{slug}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Test the API key of a source with one read call to the service */
        post: operations["checkSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sources/{slug}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The controller profile that applies to a source, and what it lacks */
        get: operations["getProfile"];
        put?: never;
        /**
         * Replace the controller profile that applies to a source
         * @description Needs a token of scope `administer` for all sources. A shared profile changes for every source that has none of its own. Recorded with the hash of both texts.
         */
        post: operations["saveProfile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sources/{slug}/profile/own": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a source a profile of its own: a copy of the shared one, without the web form */
        post: operations["giveOwnProfile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sources/{slug}/reread": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read all earlier deliveries and rows of a source again, with its current settings
         * @description Needs a token of scope `administer`. For deliveries that could not be read before the names of their fields and events were accepted. Returns the job that rebuilds the read models; the job’s result says how many are now read. A request while one is under way returns the same job.
         */
        post: operations["rereadDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sources/{slug}/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret of a webhook: accept a new one, which is yours or is generated
         * @description Needs a token of scope `administer`. The old secrets are accepted until they expire or are retired, so that no delivery is lost in between.
         */
        post: operations["addSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sources/{slug}/secrets/{secretId}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop accepting a signing secret
         * @description Needs a token of scope `administer`. The only secret of a source cannot be retired.
         */
        post: operations["retireSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/syncs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The state of pulling consent logs, per source and banner */
        get: operations["listSyncs"];
        put?: never;
        /** Pull the consent logs of a source now */
        post: operations["startSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/syncs/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop the syncs of a source that are running or waiting
         * @description Stored rows are kept, and the next sync continues from there.
         */
        post: operations["stopSyncs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/verifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify every entry, checkpoint and file now
         * @description Returns the job that does it; the job’s result lists the findings.
         */
        post: operations["startVerification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/verifications/last": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** When the whole ledger was last verified, and how many faults were found */
        get: operations["getLastVerification"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A call that changes something at the service. */
        Call: {
            actor: string;
            askedAt: string;
            error: string | null;
            jurisdiction: string | null;
            /** @description generate, publish or bulk. */
            operation: string;
            policyId: string | null;
            policyType: string | null;
            requestId: string;
            /** @description The entry that records the call before it was sent. */
            seq: number;
            source: string;
            /**
             * @description happened and not-happened: settled later.
             * @enum {string}
             */
            state: "sent" | "done" | "refused" | "unknown" | "happened" | "not-happened";
        };
        /** @description A data subject request. Days are YYYY-MM-DD in the controller’s time zone, times ISO 8601 in UTC. */
        Case: {
            acknowledgeBy: string | null;
            aimFor: string | null;
            assignee: string | null;
            atOnce: boolean;
            caseId: string;
            /** @description Why there is no date, or which law may set an earlier one, in words; null: every law was looked at. */
            caveat: string | null;
            channel: string;
            daysLeft: number | null;
            explanation: string;
            /** @enum {string} */
            identity: "met" | "needed" | "failed";
            /**
             * @description What is recorded about the requester’s identity. not-looked-at: no decision yet whether there is reasonable doubt; no-doubt: an officer decided that there is none.
             * @enum {string}
             */
            identityCheck: "not-allowed" | "not-looked-at" | "no-doubt" | "asked" | "confirmed" | "failed" | "recheck";
            jurisdiction: string | null;
            /**
             * @description Of several rights the one that takes effect soonest.
             * @enum {string}
             */
            kind: "access" | "portability" | "erasure" | "rectification" | "restriction" | "objection" | "opt-out" | "limit" | "withdraw-consent" | "unknown";
            /** @description BCP 47: the language in which the requester is written to; null: not known. */
            language: string | null;
            law: string | null;
            legalLimit: string | null;
            /** @description Moves that its state and its law allow. */
            moves: string[];
            /** @description Codes of the laws that may apply and are not recorded here, such as CL: each may set a date, or an earlier one. */
            notRecorded: string[];
            open: boolean;
            /** @description Messages of the requester that are open: the move reply answers them all, no-reply says that none needs a reply. */
            openMessages: number;
            overdue: boolean;
            /** @description Whether the legal limit follows a rule that this installation wrote, which the statute does not say. */
            ownRule: boolean;
            /** @description The controller’s own target where a law is not recorded here. It is not a legal limit. */
            ownTarget: string | null;
            /** @description The rights of a request with several, kind first; empty: kind alone. The request cannot be answered until settle-part has recorded what was done about each. */
            parts: {
                at: string | null;
                by: string | null;
                ground: string | null;
                /** @enum {string} */
                kind: "access" | "portability" | "erasure" | "rectification" | "restriction" | "objection" | "opt-out" | "limit" | "withdraw-consent" | "unknown";
                legalLimit: string | null;
                note: string | null;
                /** @description null: nothing is recorded yet. */
                outcome: ("done" | "partly" | "refused") | null;
            }[];
            receiptAt: string;
            receiptBasis: string;
            regime: string | null;
            /** @description Postal address in lines, without the name. */
            requesterAddress: string | null;
            requesterEmail: string | null;
            requesterName: string | null;
            says: string[];
            source: string;
            /** @enum {string} */
            state: "opened" | "acknowledged" | "waiting-identity" | "waiting-clarification" | "in-progress" | "ready" | "answered" | "refused" | "withdrawn" | "closed";
            /** @description Sent with the next move as basedOn. */
            version: number;
            warnOn: string | null;
        };
        /** @description The newest checkpoint. `unchanged`: nothing was added since it was made. */
        Checkpoint: {
            /** @description The signed note (C2SP tlog-checkpoint). */
            note: string | null;
            /** @enum {string} */
            outcome: "sealed" | "unchanged" | "empty";
            size: number;
        };
        ConsentAnswer: {
            /** @description The last entry that was taken into account. */
            asOf: number;
            at: string;
            /**
             * @description What the identifier was.
             * @enum {string}
             */
            by: "email" | "record" | "subject";
            /** @description The decisions that determined it, with their entries. */
            decisions: ({
                at: string;
                bannerId: string | null;
                contradictions: string[];
                decisionId: string;
                disputed: boolean;
                entries: ({
                    commitment: string;
                    receivedAt: string;
                    /** @description Number of the ledger entry. */
                    seq: number;
                    /** @enum {string} */
                    wayIn: "webhook" | "pull" | "request";
                } & {
                    [key: string]: unknown;
                })[];
                outcomes: {
                    [key: string]: unknown;
                };
                policy: {
                    known: string;
                    policyId: string | null;
                    texts: {
                        [key: string]: unknown;
                    }[];
                    version: string | null;
                } & {
                    [key: string]: unknown;
                };
                recordId: string | null;
                /** @description What accompanies the choice: TCF, GPP and US Privacy strings, GPC, Google’s consent mode. */
                signals: {
                    contradictions: {
                        /** @description Null: the record as a whole. */
                        purpose: string | null;
                        /**
                         * @description What the record says, unlike the signal.
                         * @enum {string}
                         */
                        record: "grants" | "refuses";
                        says: string;
                        signal: string;
                    }[];
                    /** @description By signal: gpc, tcf, gpp, usPrivacy, additionalConsent, consentMode. `damaged` is the reason if one could not be decoded; null: the record has none. */
                    decoded: {
                        [key: string]: unknown;
                    };
                    words: {
                        damaged: boolean;
                        says: string[];
                        signal: string;
                        title: string;
                    }[];
                } | null;
                timeBasis: string;
            } & {
                [key: string]: unknown;
            })[];
            /** @description The state according to what was known at that time; null: the same. */
            knownThen: ({
                bannerId: string | null;
                purposes: ({
                    /** @description The decision that determined it. */
                    decisionId: string;
                    purpose: string;
                    since: string;
                    /** @description granted, denied, withdrawn, expired, disputed, unclear … */
                    state: string;
                } & {
                    [key: string]: unknown;
                })[];
            } & {
                [key: string]: unknown;
            })[] | null;
            later: number;
            /** @enum {string} */
            outcome: "found" | "not-found";
            /** @description The entry that records this look-up. */
            recorded: number;
            /** @description The state of consent at that time, according to everything known now. */
            standing: ({
                bannerId: string | null;
                purposes: ({
                    /** @description The decision that determined it. */
                    decisionId: string;
                    purpose: string;
                    since: string;
                    /** @description granted, denied, withdrawn, expired, disputed, unclear … */
                    state: string;
                } & {
                    [key: string]: unknown;
                })[];
            } & {
                [key: string]: unknown;
            })[];
            subjects: string[];
            total: number;
        };
        /** @description A choice of a visitor. */
        Decision: {
            at: string;
            bannerId: string | null;
            decisionId: string;
            /** @description According to all its records: given, partly-given, refused, withdrawn, disputed … */
            judged: string;
            recordId: string | null;
            /** @description The entry of its first record. */
            seq: number;
            source: string;
        };
        /** @description A webhook that was stored, without its body. */
        Delivery: {
            bytes: number;
            commitment: string;
            contentType: string | null;
            event: string | null;
            note: string | null;
            /** @enum {string} */
            outcome: "read" | "unknown-event" | "unreadable";
            receivedAt: string;
            repeats: number;
            /** @description Number of the ledger entry. */
            seq: number;
            source: string;
            /** @description The verdict on its signature. */
            verdict: string;
        };
        /** @description A registered file: a pack, a letter, a file sent with letters, or a report. */
        Document: {
            actor: string;
            /** @description The last entry that it was made from. */
            asOf: number;
            bytes: number;
            caseId: string | null;
            createdAt: string;
            documentId: string;
            erasedAt: string | null;
            fileName: string;
            format: string;
            /** @description dsar-pack, letter, attachment, or the name of a report. */
            name: string;
            /** @description The entry that registers it. */
            seq: number;
            sha256: string;
            source: string;
        };
        /** @description An entry of the ledger with its bytes; commitment, salt and hashes are those of docs/ledger-format.md. */
        Entry: {
            /** @description A body that is not valid UTF-8. */
            bodyBase64: string | null;
            /** @description Null if it was erased, and for calls, which may contain credentials. */
            bodyText: string | null;
            bytes: number | null;
            commitment: string;
            erased: boolean;
            event: string | null;
            /** @enum {string} */
            kind: "webhook" | "consent-log" | "call" | "snapshot" | "action" | "erasure";
            leafHash: string;
            meta: unknown;
            metaSha256: string | null;
            note: string | null;
            outcome: string | null;
            receivedAt: string;
            /** @description Not counted for rows of the consent log: the entry of the pull has the number. */
            repeats: {
                count: number;
                times: string[];
            };
            salt: string | null;
            seq: number;
            source: string;
            sourceSeq: number;
        };
        /** @description The files that prove an entry. */
        EntryProof: {
            /** @description The file `<seq>.body`; null as above. */
            bodyBase64: string | null;
            /** @description The file `<seq>.meta`. Null if it was erased or left out, and for calls. */
            metaBase64: string | null;
            seq: number;
            /** @description The number of entries that the checkpoint covers. */
            size: number;
            /** @description Time-stamp tokens (RFC 3161) over the checkpoint with the log’s signature alone. */
            stamps: {
                file: string;
                tokenBase64: string;
            }[];
            /** @description The text of the file `<seq>.tlog-proof` (C2SP tlog-proof). */
            tlogProof: string;
            /** @description The key that checks the checkpoint in the proof. */
            verifierKey: string;
            /** @description The witnesses of WITNESSES whose cosignatures the checkpoint has (C2SP tlog-cosignature). */
            witnesses: {
                name: string;
                verifierKey: string;
            }[];
        };
        /** @description A decision with a problem, and its records. */
        Finding: {
            at: string;
            bannerId: string | null;
            decisionId: string;
            recordId: string | null;
            records: {
                purposes: {
                    [key: string]: string;
                };
                receivedAt: string;
                /** @description Number of the ledger entry. */
                seq: number;
                /** @description As the record states it. */
                state: string;
                /** @enum {string} */
                wayIn: "webhook" | "pull" | "request";
            }[];
            /** @description What an officer found out about it; null: nobody has settled it. */
            settled: {
                actor: string;
                at: string;
                conclusion: string;
                reason: string | null;
                /** @description The entry that settled it. */
                seq: number;
            } | null;
            source: string;
            /** @description The newest entry of the decision, to settle it. */
            upTo: number;
        };
        HandOver: {
            /** @description Ids of the files handed over with the pack. */
            attachments: string[];
            caseId: string;
            createdAt: string;
            createdBy: string;
            documentId: string;
            downloads: number;
            expiresAt: string;
            handOverId: string;
            messages: number;
            /** @description When it was first opened with the code. */
            openedAt: string | null;
            revokedAt: string | null;
            sha256: string;
            /**
             * @description locked: by wrong codes; withheld: the request is being worked on, or the pack was erased.
             * @enum {string}
             */
            state: "open" | "locked" | "expired" | "revoked" | "withheld";
            wrongCodes: number;
        };
        /** @description A legal hold: the data it covers is not erased until it is lifted. */
        Hold: {
            caseId: string | null;
            from: string | null;
            holdId: string;
            officer: string;
            /** @description Whether it is about one person, whose keyed hash it contains. */
            ofSubject: boolean;
            placedAt: string;
            reason: string;
            /** @description The entry that records it. */
            seq: number;
            /** @description Null: every source. */
            source: string | null;
            to: string | null;
        };
        /** @description Work that takes a while: a document, a pull of consent logs, a call to the service. */
        Job: {
            attempts: number;
            createdAt: string;
            error: string | null;
            finishedAt: string | null;
            jobId: string;
            kind: string;
            progress: {
                done: number;
                message: string | null;
                total: number | null;
            } | null;
            /** @description Of a document: its documentId, sha256, bytes and seq. */
            result: unknown;
            /** @enum {string} */
            state: "waiting" | "running" | "done" | "failed" | "cancelled";
        };
        /** @description Both are null if the whole ledger was never verified. */
        LastVerification: {
            at: string | null;
            faults: number | null;
        };
        /** @description A policy as deliveries reported it. */
        Policy: {
            firstSeq: number;
            jurisdiction: string | null;
            language: string | null;
            lastAt: string;
            /** @description The last entry about it. */
            lastSeq: number;
            policyId: string;
            policyType: string | null;
            publishedAt: string | null;
            source: string;
            /** @enum {string} */
            status: "created" | "updated" | "published" | "deleted";
            title: string | null;
            version: string | null;
        };
        /** @description A text of a policy as fetched, and when it was seen. */
        PolicyText: {
            firstSeen: string;
            lastSeen: string;
            /** @description The visible text, if withText is set. */
            lines: string[] | null;
            notBefore: string | null;
            policyId: string | null;
            /** @description The entry that holds the bytes. */
            seq: number;
            /** @description hosted:<policy id> for its public page, embed:<type> for the embed endpoint. */
            target: string;
            /** @description Null: there was no text. */
            textSha256: string | null;
            version: number;
        };
        /** @description An error (RFC 9457). */
        Problem: {
            /**
             * @description For programs.
             * @enum {string}
             */
            code: "signature_missing" | "signature_mismatch" | "sign_in_required" | "link_invalid" | "forbidden" | "not_allowed" | "unknown_source" | "not_found" | "method_not_allowed" | "body_too_large" | "misdirected" | "invalid_request" | "unsupported_media_type" | "refused" | "request_timeout" | "headers_too_large" | "conflict" | "too_many_requests" | "store_unavailable" | "overloaded" | "shutting_down" | "internal" | "unexpected_response" | "no_response";
            /** @description What is wrong with this request, and what to do. */
            detail: string;
            /** @description Each problem, where there can be several. */
            problems?: string[];
            status: number;
            title: string;
            /** @description Link to its explanation in the reference. */
            type: string;
        };
        /** @description The controller profile that applies to a source. */
        Profile: {
            /** @description What letters and packs need that it does not state. */
            missing: string[];
            /** @description Why it is not valid; empty: it is. */
            problems: string[];
            /** @description Sent with the next text as `basedOn`; null: it cannot be read. */
            sha256: string | null;
            /** @description The source has no profile of its own: this is the one of every such source. */
            shared: boolean;
            source: string;
            /** @description YAML, as docs/configuration.md describes it; empty: there is none yet. */
            text: string;
        };
        /** @description A scheduled report. */
        Schedule: {
            actor: string;
            /** @enum {string} */
            covers: "day" | "week" | "month" | "quarter" | "year";
            cron: string;
            format: string;
            lastAt: string | null;
            name: string;
            nextAt: string;
            /** @description Ids of the people to whom it is mailed. */
            recipients: string[];
            scheduleId: string;
            source: string;
        };
        ShownCase: {
            acknowledgeBy: string | null;
            aimFor: string | null;
            assignee: string | null;
            atOnce: boolean;
            caseId: string;
            /** @description Why there is no date, or which law may set an earlier one, in words; null: every law was looked at. */
            caveat: string | null;
            channel: string;
            daysLeft: number | null;
            /** @enum {string} */
            disclosure: "full" | "categories-only" | "no-match";
            /** @description Its letters, files and response packs, which an approval covers. */
            documents: {
                documentId: string;
                name: string;
                sha256: string;
            }[];
            /** @description The case that it was closed as a duplicate of. */
            duplicateOf: string | null;
            /** @description Cases closed as duplicates of this one. The period runs from the earliest receipt of all. */
            duplicates: {
                caseId: string;
                receivedAt: string;
            }[];
            explanation: string;
            history: {
                actor: string;
                details: {
                    [key: string]: unknown;
                };
                move: string;
                recordedAt: string;
                /** @description Number of the ledger entry. */
                seq: number;
                toState: string;
                version: number;
            }[];
            /** @enum {string} */
            identity: "met" | "needed" | "failed";
            /**
             * @description What is recorded about the requester’s identity. not-looked-at: no decision yet whether there is reasonable doubt; no-doubt: an officer decided that there is none.
             * @enum {string}
             */
            identityCheck: "not-allowed" | "not-looked-at" | "no-doubt" | "asked" | "confirmed" | "failed" | "recheck";
            jurisdiction: string | null;
            /**
             * @description Of several rights the one that takes effect soonest.
             * @enum {string}
             */
            kind: "access" | "portability" | "erasure" | "rectification" | "restriction" | "objection" | "opt-out" | "limit" | "withdraw-consent" | "unknown";
            /** @description BCP 47: the language in which the requester is written to; null: not known. */
            language: string | null;
            law: string | null;
            legalLimit: string | null;
            match: {
                decisions: number;
                says: string;
                subjects: string[];
            };
            message: string | null;
            /** @description Moves that its state and its law allow. */
            moves: string[];
            /** @description Codes of the laws that may apply and are not recorded here, such as CL: each may set a date, or an earlier one. */
            notRecorded: string[];
            open: boolean;
            /** @description Messages of the requester that are open: the move reply answers them all, no-reply says that none needs a reply. */
            openMessages: number;
            overdue: boolean;
            /** @description Whether the legal limit follows a rule that this installation wrote, which the statute does not say. */
            ownRule: boolean;
            /** @description The controller’s own target where a law is not recorded here. It is not a legal limit. */
            ownTarget: string | null;
            /** @description The rights of a request with several, kind first; empty: kind alone. The request cannot be answered until settle-part has recorded what was done about each. */
            parts: {
                at: string | null;
                by: string | null;
                ground: string | null;
                /** @enum {string} */
                kind: "access" | "portability" | "erasure" | "rectification" | "restriction" | "objection" | "opt-out" | "limit" | "withdraw-consent" | "unknown";
                legalLimit: string | null;
                note: string | null;
                /** @description null: nothing is recorded yet. */
                outcome: ("done" | "partly" | "refused") | null;
            }[];
            readiness: {
                lacks: {
                    blocking: boolean;
                    code: string;
                    text: string;
                }[];
                ready: boolean;
            };
            receiptAt: string;
            receiptBasis: string;
            regime: string | null;
            /** @description How a reply would reach the requester now. A mail never contains its text. */
            replyReach: {
                /** @description null: nobody tells the requester that there is a reply. */
                mailTo: string | null;
                /** @description null: no link of the requester can be opened. */
                readableUntil: string | null;
                says: string;
            };
            /** @description Postal address in lines, without the name. */
            requesterAddress: string | null;
            requesterEmail: string | null;
            requesterName: string | null;
            /** @description Open cases that may be the same request: close one as a duplicate of the other. */
            sameAs: {
                /** @enum {string} */
                because: "email" | "subject" | "name";
                caseId: string;
                channel: string;
                receivedAt: string;
            }[];
            says: string[];
            /** @description SHA-256 of what an approval covers: requester, rights, parts and documents as in this answer. Sent with the move approve, in its details. */
            seen: string;
            source: string;
            /** @enum {string} */
            state: "opened" | "acknowledged" | "waiting-identity" | "waiting-clarification" | "in-progress" | "ready" | "answered" | "refused" | "withdrawn" | "closed";
            tasks: components["schemas"]["Task"][];
            /** @description What requester and officers wrote to each other, oldest first. */
            thread: {
                about: ("question" | "objection" | "reply") | null;
                actor: string;
                at: string;
                /** @enum {string} */
                from: "requester" | "officer";
                /** @enum {string} */
                move: "requester-message" | "reply" | "no-reply";
                /** @description Nobody has answered it yet. */
                open: boolean;
                /** @description Number of the ledger entry. */
                seq: number;
                /** @description Of no-reply: the reason, if one was given. */
                text: string | null;
            }[];
            /** @description Sent with the next move as basedOn. */
            version: number;
            warnOn: string | null;
        };
        /** @description An account or client of the service that this installation follows. */
        Source: {
            baseUrl: string | null;
            name: string;
            /** @description Whether consent logs can be pulled: an address and a key are set. */
            pulls: boolean;
            /** @description Ids of the signing secrets, never the secrets. */
            secrets: string[];
            siteUrl: string | null;
            slug: string;
        };
        /** @description A source and its state. */
        SourceState: {
            baseUrl: string | null;
            /** @description Whether its address and keys are set by environment variables. */
            fromEnvironment: boolean;
            lastDeliveryAt: string | null;
            /** @description The last successful sync; with several banners, of the one pulled longest ago. */
            lastSyncAt: string | null;
            name: string;
            /** @description Whether consent logs can be pulled: an address and a key are set. */
            pulls: boolean;
            secrets: {
                /** @description Null: it is set by the environment variable WEBHOOK_SECRETS. */
                addedAt: string | null;
                /** @description Null: it does not expire. */
                endsAt: string | null;
                id: string;
            }[];
            siteUrl: string | null;
            slug: string;
            webhookUrl: string;
        };
        /** @description The state of pulling one banner’s consent log. */
        SyncStatus: {
            bannerId: string | null;
            earliest: string | null;
            gap: string | null;
            lagMs: number | null;
            lastError: string | null;
            lastErrorAt: string | null;
            lastSuccessAt: string | null;
            rows: number;
            source: string;
            /** @enum {string} */
            state: "never-pulled" | "up-to-date" | "running" | "interrupted" | "failing" | "dismissed";
            unreadable: number;
            /** @description Everything dated before this has been pulled at least once. */
            watermark: string | null;
        };
        /** @description What the owner of another system has to do for a request. */
        Task: {
            addedAt: string;
            addedBy: string;
            /** @description YYYY-MM-DD. */
            due: string;
            finishedAt: string | null;
            finishedBy: string | null;
            instructions: string | null;
            /** @description When its link expires; null: it has none. */
            linkUntil: string | null;
            note: string | null;
            owner: string | null;
            ownerEmail: string | null;
            sentAt: string | null;
            /** @enum {string} */
            state: "open" | "done" | "not-done";
            /** @description Its number on the case, for the moves about tasks. */
            task: string;
            what: string;
        };
    };
    responses: {
        /** @description Someone else changed this in the meantime. Reload and review it. */
        conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is not valid. */
        invalid_request: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Your role does not allow this. Ask an owner or admin if you need it. */
        not_allowed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nothing was found at this address. */
        not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request was understood and refused. */
        refused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Sign in first, then try again. */
        sign_in_required: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The store cannot write right now. Nothing was acknowledged; send it again. */
        store_unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many requests. Wait a moment and try again. */
        too_many_requests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Send JSON, with Content-Type: application/json. */
        unsupported_media_type: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Requests per minute for this token. */
        "RateLimit-Limit": number;
        /** @description How many of them are left. */
        "RateLimit-Remaining": number;
        /** @description Seconds until the limit resets. */
        "RateLimit-Reset": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    nameBanner: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    bannerId: string;
                    name: string;
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "named" | "unchanged";
                        /** @description The entry that records it; null: nothing was changed. */
                        seq: number | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listCases: {
        parameters: {
            query?: {
                /** @description `me`, `nobody`, an account id (`p-1a2b3c4d`), or an assignee’s exact name. */
                assignee?: string;
                /** @description The nextCursor of the previous page. Default: the first page. */
                cursor?: string;
                kind?: "access" | "portability" | "erasure" | "rectification" | "restriction" | "objection" | "opt-out" | "limit" | "withdraw-consent" | "unknown";
                /** @description Maximum number of rows per page. */
                limit?: number;
                /** @description true: only requests whose requester is still waiting; false: only settled ones. */
                open?: "true" | "false";
                /** @description true: only requests with a message that nobody has answered yet; false: the others. */
                openMessages?: "true" | "false";
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
                state?: "opened" | "acknowledged" | "waiting-identity" | "waiting-clarification" | "in-progress" | "ready" | "answered" | "refused" | "withdrawn" | "closed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Case"][];
                        /** @description For the next page; null: this is the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    openCase: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Channel
                     * @description For example letter, e-mail, phone.
                     */
                    channel: string;
                    /**
                     * Where the requester is
                     * @description Without it only the controller’s law applies.
                     */
                    jurisdiction?: string | null;
                    /**
                     * Kind of request
                     * @enum {string}
                     */
                    kind: "access" | "portability" | "erasure" | "rectification" | "restriction" | "objection" | "opt-out" | "limit" | "withdraw-consent" | "unknown";
                    /**
                     * Language of the requester
                     * @description Letters to the requester are written in it.
                     */
                    language?: string | null;
                    /**
                     * What was requested
                     * @default null
                     */
                    message?: string | null;
                    /**
                     * Received
                     * @description When it arrived through any channel of the controller: an ISO 8601 time, in the controller’s time zone if it has no offset, or a day (YYYY-MM-DD).
                     */
                    receivedAt: string;
                    reference?: string;
                    /**
                     * Postal address of the requester
                     * Format: address
                     * @description Without the name, as on an envelope: letters are addressed to it.
                     */
                    requesterAddress?: string | null;
                    /**
                     * E-mail of the requester
                     * @default null
                     */
                    requesterEmail?: string | null;
                    /**
                     * Name of the requester
                     * @default null
                     */
                    requesterName?: string | null;
                    /** Source */
                    source: string;
                    /**
                     * Id from the requester’s device
                     * @default null
                     */
                    subject?: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        caseId: string;
                        /** @enum {string} */
                        outcome: "opened" | "duplicate";
                        /** @description Number of the ledger entry. */
                        seq: number;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getCase: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                caseId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownCase"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listHandOvers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                caseId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["HandOver"][];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    createHandOver: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                caseId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Who approved it for the controller, if this installation is a processor. */
                    approvedBy?: string;
                    /**
                     * @description Ids of files of the request that the requester gets with the pack.
                     * @default []
                     */
                    attachments?: string[];
                    /** @default 14 */
                    days?: number;
                    /** @description The pack; default: the newest one of the request. */
                    documentId?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Ids of the files handed over with the pack. */
                        attachments: string[];
                        caseId: string;
                        code: string;
                        createdAt: string;
                        createdBy: string;
                        documentId: string;
                        downloads: number;
                        expiresAt: string;
                        handOverId: string;
                        link: string;
                        messages: number;
                        /** @description When it was first opened with the code. */
                        openedAt: string | null;
                        revokedAt: string | null;
                        seq: number;
                        sha256: string;
                        /**
                         * @description locked: by wrong codes; withheld: the request is being worked on, or the pack was erased.
                         * @enum {string}
                         */
                        state: "open" | "locked" | "expired" | "revoked" | "withheld";
                        wrongCodes: number;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    revokeHandOver: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                caseId: string;
                handOverId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HandOver"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    makeLetter: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                caseId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Confirms that this organisation is the controller of the source, for this letter. Needed if the controller profile is shared by several sources and nobody has said whose it is. */
                    controller?: string;
                    /**
                     * @default pdf
                     * @enum {string}
                     */
                    format?: "pdf" | "html" | "txt";
                    /** @description BCP 47, one of en, de, es, fr, it, nl, pl, pt, sv. Default: the language of the request; required if that is not known, and then remembered as the requester’s. */
                    language?: string;
                    /** @description Only for a notice: the recipient of the data. */
                    recipient?: string;
                    /** @description Records the move of the letter: acknowledgement acknowledge, identity ask-identity, clarification ask-clarification, extension extend, refusal refuse. */
                    record?: {
                        /** @description The version of the case that the move is based on. */
                        basedOn: number;
                        /**
                         * @description Details of the move besides what `text` says (asked, question or reasons).
                         * @default {}
                         */
                        details?: {
                            [key: string]: unknown;
                        };
                        /**
                         * @description `letter`: you post it. `e-mail`: it is sent from here, and recorded once it has gone out.
                         * @enum {string}
                         */
                        way: "e-mail" | "letter";
                    };
                    /** @enum {string} */
                    step: "acknowledgement" | "identity" | "clarification" | "extension" | "answer" | "partial" | "refusal" | "no-match" | "notice" | "appeal";
                    /** @description Your own text. Default: the installation’s wording. */
                    text?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        bytes: number;
                        documentId: string;
                        recorded?: {
                            /** @description The job that sends the letter and records the move. */
                            jobId?: string;
                            next?: string;
                            /**
                             * @description `made`: only the letter is made; `next` says what is needed before it can be recorded.
                             * @enum {string}
                             */
                            outcome: "recorded" | "sending" | "made";
                            /** @description The entry of the move. */
                            seq?: number;
                        };
                        seq: number;
                        sha256: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    mailLetter: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                caseId: string;
                documentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Files of the request that are sent with it (documentId; `listDocuments`, name attachment).
                     * @default []
                     */
                    attachments?: string[];
                };
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    moveCase: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                caseId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The version of the case that the move is based on. */
                    basedOn: number;
                    /** @default {} */
                    details?: {
                        [key: string]: unknown;
                    };
                    /** @enum {string} */
                    move: "acknowledge" | "start" | "amend" | "no-doubt" | "ask-identity" | "confirm-identity" | "confirm-email" | "fail-identity" | "ask-clarification" | "receive-clarification" | "record-fee" | "extend" | "mark-system" | "add-task" | "share-task" | "unshare-task" | "send-task" | "finish-task" | "settle-part" | "link-subject" | "note" | "requester-message" | "reply" | "no-reply" | "assign" | "approve" | "mark-ready" | "rework" | "answer" | "refuse" | "withdraw" | "close-duplicate" | "merge-duplicate" | "release-duplicate" | "close" | "reopen";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        caseId: string;
                        seq: number;
                        version: number;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    makePack: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                caseId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description BCP 47, one of en, de, es, fr, it, nl, pl, pt, sv. Default: the language of the request; required if that is not known, and then remembered as the requester’s. */
                    language?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    shareTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                caseId: string;
                task: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default 30 */
                    days?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        expiresAt: string;
                        link: string;
                        seq: number;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    mailTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                caseId: string;
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    makeCheckpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Checkpoint"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listContradictions: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page. Default: the first page. */
                cursor?: string;
                /** @description The first day, in the time zone of the controller. */
                from?: string;
                /** @description Maximum number of rows per page. */
                limit?: number;
                /** @description true: those that an officer has settled; otherwise those that nobody has. */
                settled?: "true" | "false";
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
                /** @description The last day. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Finding"][];
                        /** @description For the next page; null: this is the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    settleContradictions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    conclusion: "refusal-confirmed" | "disputed" | "not-ours" | "open-again";
                    decisions: {
                        decisionId: string;
                        /** @description The entry whose conclusion this one replaces. */
                        replaces?: number;
                        /** @description As listed: the newest entry that was looked at. */
                        upTo: number;
                    }[];
                    /** @default null */
                    reason?: string | null;
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description How many had been settled before; they stay as they are. */
                        before: number;
                        entries: number[];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listDecisions: {
        parameters: {
            query?: {
                /** @description As counted on the Today page; withdrawn includes partly withdrawn. */
                choice?: "given" | "partly-given" | "refused" | "withdrawn";
                /** @description The nextCursor of the previous page. Default: the first page. */
                cursor?: string;
                /** @description The first day, in the time zone of the controller. */
                from?: string;
                /** @description Maximum number of rows per page. */
                limit?: number;
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
                /** @description The last day. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Decision"][];
                        /** @description For the next page; null: this is the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    lookUpConsent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The time in question: an ISO 8601 time, in the controller’s time zone if it has no offset, or a day (YYYY-MM-DD). A day means its end. */
                    at: string;
                    /** @description A visitor hash, an e-mail address, or the id of a consent record. */
                    identifier: string;
                    source: string;
                    /**
                     * @description Includes the visible texts of the policies.
                     * @default false
                     */
                    withTexts?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentAnswer"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listUndelivered: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page. Default: the first page. */
                cursor?: string;
                /** @description The first day, in the time zone of the controller. */
                from?: string;
                /** @description Maximum number of rows per page. */
                limit?: number;
                /** @description true: those that an officer has settled; otherwise those that nobody has. */
                settled?: "true" | "false";
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
                /** @description The last day. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Finding"][];
                        /** @description For the next page; null: this is the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    settleUndelivered: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    conclusion: "endpoint-down" | "not-subscribed" | "not-ours" | "other" | "open-again";
                    decisions: {
                        decisionId: string;
                        /** @description The entry whose conclusion this one replaces. */
                        replaces?: number;
                        /** @description As listed: the newest entry that was looked at. */
                        upTo: number;
                    }[];
                    /** @default null */
                    reason?: string | null;
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description How many had been settled before; they stay as they are. */
                        before: number;
                        entries: number[];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page. Default: the first page. */
                cursor?: string;
                event?: string;
                /** @description Maximum number of rows per page. */
                limit?: number;
                outcome?: "read" | "unknown-event" | "unreadable";
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Delivery"][];
                        /** @description For the next page; null: this is the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    followDeliveries: {
        parameters: {
            query?: {
                /** @description The last entry that you have. */
                after?: number;
                event?: string;
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listDocuments: {
        parameters: {
            query?: {
                caseId?: string;
                /** @description The nextCursor of the previous page. Default: the first page. */
                cursor?: string;
                /** @description Maximum number of rows per page. */
                limit?: number;
                /** @description dsar-pack, letter, attachment, or the name of a report. */
                name?: string;
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Document"][];
                        /** @description For the next page; null: this is the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                documentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Document"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    downloadDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                documentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                seq: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entry"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getEntryProof: {
        parameters: {
            query?: {
                /** @description false: without meta, body and salt; proves place and time without disclosing content. */
                content?: "true" | "false";
            };
            header?: never;
            path: {
                seq: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryProof"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listHolds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Hold"][];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    placeHold: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    caseId?: string;
                    /** @description Of receipt: an ISO 8601 time, in the controller’s time zone if it has no offset, or a day (YYYY-MM-DD). */
                    from?: string;
                    reason: string;
                    /** @description Default: every source, if you can see them all. */
                    source?: string;
                    /** @description A visitor hash, e-mail address or record id; needs source. Only a keyed hash is kept. */
                    subject?: string;
                    /** @description Of receipt, exclusive: an ISO 8601 time, in the controller’s time zone if it has no offset, or a day (YYYY-MM-DD). */
                    to?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    liftHold: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                holdId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listJobs: {
        parameters: {
            query?: {
                kind?: "document" | "sync" | "verify" | "reread" | "policy-generate" | "policy-publish" | "policy-bulk";
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
                state?: "waiting" | "running" | "done" | "failed" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Job"][];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    followJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    stopJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        /** @description The name under which entries record actions with this token. */
                        officer: string;
                        personId: string | null;
                        personRole: ("owner" | "admin" | "officer" | "auditor") | null;
                        /**
                         * @description Of the token: auditor with scope read, officer with work, admin with administer.
                         * @enum {string}
                         */
                        role: "owner" | "admin" | "officer" | "auditor";
                        /** @description Null: every one. */
                        sources: string[] | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listPolicies: {
        parameters: {
            query?: {
                policyId?: string;
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Policy"][];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    startBulk: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    items: {
                        business_name?: string;
                        business_type?: string;
                        domain?: string;
                        industry?: string;
                        jurisdiction: string;
                        language?: string;
                        policy_type: string;
                    }[];
                    /**
                     * @description Sends items again that the service failed to generate.
                     * @default false
                     */
                    retryFailed?: boolean;
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        job: components["schemas"]["Job"];
                        planId: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getBulk: {
        parameters: {
            query: {
                source: string;
            };
            header?: never;
            path: {
                planId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            jurisdiction: string;
                            policyId: string | null;
                            policyType: string;
                            position: number;
                            /** @enum {string} */
                            state: "planned" | "sent" | "created" | "skipped" | "failed" | "unknown";
                        }[];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listCalls: {
        parameters: {
            query?: {
                /** @description The nextCursor of the previous page. Default: the first page. */
                cursor?: string;
                /** @description Maximum number of rows per page. */
                limit?: number;
                /** @description Only those whose outcome is unknown. */
                open?: "true" | "false";
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Call"][];
                        /** @description For the next page; null: this is the last one. */
                        nextCursor: string | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    settleCall: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                requestId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    happened: boolean;
                    /** @description The policy that it created. */
                    policyId?: string;
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Call"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    generatePolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default false */
                    again?: boolean;
                    form: {
                        business_name?: string;
                        business_type?: string;
                        domain?: string;
                        industry?: string;
                        jurisdiction: string;
                        language?: string;
                        policy_type: string;
                    };
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    fetchPolicyList: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "stored" | "unchanged";
                        policies: number;
                        /** @description Whether the list is complete, according to the service. */
                        whole: boolean;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    publishPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    policyId: string;
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listPolicyTexts: {
        parameters: {
            query: {
                /** @description Only what the ledger knew when it ended at this entry. */
                asOf?: number;
                policyId: string;
                source: string;
                withText?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["PolicyText"][];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    makeReport: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    format: "pdf" | "csv" | "json" | "html";
                    /**
                     * Format: date
                     * @description YYYY-MM-DD in the time zone of the controller.
                     */
                    from: string;
                    /** @enum {string} */
                    name: "consent-audit" | "dsar-register" | "delivery-log" | "reconciliation" | "scan-audit";
                    source: string;
                    /** @description Appends the history of this subject, if the report supports it. */
                    subject?: string;
                    /**
                     * Format: date
                     * @description The last day, included.
                     */
                    to: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Schedule"][];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    addSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The last whole one before the run.
                     * @enum {string}
                     */
                    covers: "day" | "week" | "month" | "quarter" | "year";
                    /** @description minute hour day month weekday, in the time zone of the controller. */
                    cron: string;
                    /** @enum {string} */
                    format: "pdf" | "csv" | "json" | "html";
                    /** @enum {string} */
                    name: "consent-audit" | "dsar-register" | "delivery-log" | "reconciliation" | "scan-audit";
                    /**
                     * @description Ids of people with an account.
                     * @default []
                     */
                    recipients?: string[];
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        scheduleId: string;
                        seq: number;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    removeSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        scheduleId: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listSources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Source"][];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceState"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    checkSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "works" | "refused" | "not-configured";
                        sentence: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Profile"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    saveProfile: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The sha256 of the text that this one replaces. */
                    basedOn: string;
                    text: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        outcome: "saved" | "unchanged";
                        /** @description The entry that records it; null: nothing was changed. */
                        seq: number | null;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    giveOwnProfile: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entry that records it. */
                        seq: number;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    rereadDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    addSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description How `secret` is written.
                     * @default text
                     * @enum {string}
                     */
                    encoding?: "text" | "hex" | "base64";
                    /** @description Hours until the old secrets expire. Default: never; retire them one by one. */
                    othersEndInHours?: number;
                    /** @description As the service shows it. Default: one is generated, and returned once. */
                    secret?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The generated secret; null: it was given. */
                        secret: string | null;
                        secretId: string;
                        /** @description The entry that records it. */
                        seq: number;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    retireSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path: {
                secretId: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The entry that records it. */
                        seq: number;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listSyncs: {
        parameters: {
            query?: {
                /** @description Only this source (its slug). Default: everything that you can see. */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["SyncStatus"][];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    startSync: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    stopSyncs: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    source: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            jobId: string;
                            /** @enum {string} */
                            outcome: "cancelled" | "requested";
                        }[];
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    startVerification: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key sent again within a day gets the response to the first request; nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            409: components["responses"]["conflict"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["refused"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getLastVerification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastVerification"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["sign_in_required"];
            403: components["responses"]["not_allowed"];
            429: components["responses"]["too_many_requests"];
            503: components["responses"]["store_unavailable"];
        };
    };
}
