import GRDB

/// Runs, and all that was done in them.
///
/// The constraints repeat the scheduler's rules, so that a fault in it is an error here and not a wrong record. Whatever is
/// here can be lost: then an interrupted run is no more known, and what it had not published is rendered again.
enum Migration2 {
    static func apply(_ database: Database) throws {
        try database.execute(
            sql: """
                -- Times are nanoseconds since 1970.
                CREATE TABLE runs (
                    id INTEGER PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE,
                    job INTEGER NOT NULL REFERENCES jobs(id),
                    -- How many coordinators have had it.
                    epoch INTEGER NOT NULL CHECK (epoch >= 1),
                    state TEXT NOT NULL CHECK (state IN ('running', 'ended')),
                    started INTEGER NOT NULL,
                    ended INTEGER,
                    exit_code INTEGER,
                    -- Why it ended before its plan did.
                    reason TEXT,
                    workers INTEGER NOT NULL CHECK (workers >= 1),
                    -- What was asked for, and what came of it; JSON.
                    request TEXT NOT NULL,
                    counts TEXT NOT NULL,
                    CHECK ((state = 'ended') = (ended IS NOT NULL)),
                    CHECK ((state = 'ended') = (exit_code IS NOT NULL)),
                    CHECK (reason IS NULL OR state = 'ended')
                );
                CREATE INDEX runs_of_job ON runs (job, started);
                -- Frames that there was something to do with.
                CREATE TABLE frames (
                    run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
                    number INTEGER NOT NULL CHECK (number >= 1),
                    page INTEGER NOT NULL CHECK (page >= 0),
                    input TEXT NOT NULL,
                    recipe TEXT NOT NULL,
                    -- JSON: a list of paths.
                    outputs TEXT NOT NULL,
                    state TEXT NOT NULL CHECK (state IN ('open', 'published', 'skipped', 'failed', 'left')),
                    cause TEXT,
                    message TEXT,
                    seconds REAL,
                    PRIMARY KEY (run, number, page),
                    CHECK ((state = 'failed') = (cause IS NOT NULL))
                ) WITHOUT ROWID;
                -- An attempt is a lease: of one worker, for one task, until a moment.
                CREATE TABLE attempts (
                    run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
                    epoch INTEGER NOT NULL,
                    lease INTEGER NOT NULL,
                    number INTEGER NOT NULL,
                    page INTEGER NOT NULL,
                    kind TEXT NOT NULL CHECK (kind IN
                        ('compare', 'probe', 'frame', 'canvas', 'tile', 'stitch', 'audit', 'check')),
                    tile INTEGER NOT NULL CHECK ((kind = 'tile') = (tile >= 0)),
                    attempt INTEGER NOT NULL CHECK (attempt >= 1),
                    -- How often the frame's rendering had begun again.
                    round INTEGER NOT NULL CHECK (round >= 0),
                    worker INTEGER NOT NULL,
                    started INTEGER NOT NULL,
                    -- When the lease ends by itself.
                    deadline INTEGER NOT NULL,
                    ended INTEGER,
                    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'lost', 'dropped')),
                    message TEXT,
                    -- What the worker wrote to its standard error meanwhile.
                    log TEXT,
                    -- JSON.
                    receipt TEXT,
                    PRIMARY KEY (run, epoch, lease),
                    CHECK ((state = 'running') = (ended IS NULL)),
                    CHECK ((state = 'done') = (receipt IS NOT NULL)),
                    CHECK (state NOT IN ('failed', 'lost') OR message IS NOT NULL)
                ) WITHOUT ROWID;
                -- A worker has one lease at a time, and a task one worker.
                CREATE UNIQUE INDEX busy_workers ON attempts (run, epoch, worker) WHERE state = 'running';
                CREATE UNIQUE INDEX leased_tasks ON attempts (run, epoch, number, page, kind, tile, round)
                    WHERE state = 'running';
                CREATE INDEX attempts_of_frame ON attempts (run, number, page);
                CREATE TABLE publications (
                    run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
                    path TEXT NOT NULL,
                    number INTEGER NOT NULL,
                    page INTEGER NOT NULL,
                    at INTEGER NOT NULL,
                    -- Nothing is published twice in one run.
                    PRIMARY KEY (run, path)
                ) WITHOUT ROWID;
                CREATE VIEW tasks AS
                    SELECT run, number, page, kind, tile, COUNT(*) AS attempts,
                        CASE WHEN SUM(state = 'done') THEN 'done' WHEN SUM(state = 'running') THEN 'running'
                            ELSE 'undone' END AS state
                    FROM attempts GROUP BY run, number, page, kind, tile;
                """)
    }
}
