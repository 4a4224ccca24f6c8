import GRDB

/// The first schema: jobs, what they need, tokens, schedules, messages to send, and who changed what.
///
/// Times are milliseconds since 1970. The constraints repeat the rules of `Queueing`, so that a fault is an error here,
/// and not a wrong record.
enum Migration1 {
    static func apply(_ database: Database) throws {
        try database.execute(sql: jobs)
        try database.execute(sql: others)
    }

    private static let ends = "('done', 'work_left', 'failed', 'stopped', 'cancelled', 'skipped')"

    private static let jobs = """
        CREATE TABLE submissions (
            -- A number is never used again, even if its row is removed.
            id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id >= 1),
            owner TEXT NOT NULL CHECK (owner LIKE '%_:_%'),
            -- NULL if the request had none, or if it has expired.
            key TEXT CHECK (length(key) BETWEEN 1 AND 255),
            digest TEXT NOT NULL,
            name TEXT NOT NULL,
            -- A file's path, or a text and the folder at which its relative paths start.
            manifest_path TEXT,
            manifest_text TEXT CHECK (length(manifest_text) <= 16777216),
            manifest_folder TEXT,
            manifest_digest TEXT NOT NULL,
            -- JSON.
            options TEXT NOT NULL CHECK (json_type(options) = 'object'),
            priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 100),
            expedited INTEGER,
            -- JSON: names and values.
            labels TEXT NOT NULL CHECK (json_type(labels) = 'object'),
            not_before INTEGER,
            -- That job may have been removed.
            retry_of INTEGER CHECK (retry_of BETWEEN 1 AND id - 1),
            submitted INTEGER NOT NULL CHECK (submitted >= 0),
            state TEXT NOT NULL CHECK (state IN ('held', 'waiting', 'starting', 'running') OR state IN \(ends)),
            -- JSON: the whole state. The columns repeat what queries need.
            details TEXT NOT NULL,
            -- The current or the last run, or the one that it will resume.
            run TEXT UNIQUE,
            tries INTEGER NOT NULL CHECK (tries >= 0),
            ended INTEGER,
            exit_code INTEGER,
            UNIQUE (owner, key),
            CHECK ((manifest_path IS NULL) != (manifest_text IS NULL)),
            CHECK ((manifest_text IS NULL) = (manifest_folder IS NULL)),
            CHECK ((state IN \(ends)) = (ended IS NOT NULL)),
            CHECK ((state IN \(ends)) = (exit_code IS NOT NULL)),
            CHECK (state NOT IN ('starting', 'running') OR run IS NOT NULL AND tries >= 1),
            CHECK (state != 'done' OR run IS NOT NULL AND exit_code = 0),
            CHECK (json_extract(details, '$.state') IS state),
            CHECK (json_extract(details, '$.tries') IS tries),
            CHECK (coalesce(json_extract(details, '$.run'), json_extract(details, '$.resumes')) IS run)
        ) STRICT;
        CREATE INDEX open_submissions ON submissions (id) WHERE ended IS NULL;
        CREATE INDEX submissions_by_state ON submissions (state, id);
        CREATE INDEX submissions_by_owner ON submissions (owner, id);
        CREATE INDEX ended_submissions ON submissions (ended) WHERE ended IS NOT NULL;
        CREATE INDEX retries ON submissions (retry_of, id) WHERE retry_of IS NOT NULL;
        CREATE TRIGGER a_job_ends_once BEFORE UPDATE OF details ON submissions
            WHEN OLD.ended IS NOT NULL AND NEW.details IS NOT OLD.details
            BEGIN SELECT RAISE(ABORT, 'a job ends once'); END;
        CREATE TABLE needs (
            submission INTEGER NOT NULL REFERENCES submissions(id) ON DELETE CASCADE,
            other INTEGER NOT NULL REFERENCES submissions(id),
            outcome TEXT NOT NULL CHECK (outcome IN ('success', 'end')),
            PRIMARY KEY (submission, other),
            -- So there are no circles.
            CHECK (other < submission)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX needs_of_other ON needs (other);
        -- All runs that a job ever had. A run belongs to one job.
        CREATE TABLE runs (
            name TEXT PRIMARY KEY,
            submission INTEGER NOT NULL REFERENCES submissions(id) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX runs_of_submission ON runs (submission);
        """

    private static let others = """
        CREATE TABLE tokens (
            -- Not secret.
            id TEXT PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
            name TEXT NOT NULL,
            -- SHA-256 of the secret.
            digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
            scope TEXT NOT NULL CHECK (scope IN ('read', 'submit', 'admin')),
            -- JSON: a list of folders. Empty for no limit.
            roots TEXT NOT NULL CHECK (json_type(roots) = 'array'),
            created INTEGER NOT NULL,
            expires INTEGER,
            used INTEGER,
            revoked INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE schedules (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 63),
            kind TEXT NOT NULL CHECK (kind IN ('cron', 'watch')),
            spec TEXT NOT NULL CHECK (json_type(spec) = 'object' AND length(spec) <= 1048576),
            enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
            -- The time of the last decision, or of the schedule's creation.
            last INTEGER NOT NULL,
            -- That job may have been removed.
            last_job INTEGER,
            -- How many jobs it has submitted.
            submitted INTEGER NOT NULL CHECK (submitted >= 0),
            CHECK ((submitted > 0) = (last_job IS NOT NULL))
        ) STRICT;
        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            event TEXT NOT NULL UNIQUE CHECK (length(event) BETWEEN 1 AND 255),
            target TEXT NOT NULL,
            body TEXT NOT NULL CHECK (length(body) <= 1048576),
            tries INTEGER NOT NULL CHECK (tries >= 0),
            -- When it is due. NULL if it is delivered or given up.
            next INTEGER,
            -- Why the last try failed.
            error TEXT,
            -- When it was delivered or given up.
            done INTEGER,
            CHECK ((next IS NULL) = (done IS NOT NULL)),
            CHECK (done IS NULL OR tries >= 1)
        ) STRICT;
        CREATE INDEX due_messages ON outbox (next, id) WHERE done IS NULL;
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            caller TEXT NOT NULL,
            address TEXT,
            action TEXT NOT NULL,
            subject TEXT NOT NULL,
            detail TEXT NOT NULL
        ) STRICT;
        CREATE TABLE settings (
            name TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
            value TEXT NOT NULL CHECK (length(value) <= 65536)
        ) STRICT, WITHOUT ROWID;
        """
}
