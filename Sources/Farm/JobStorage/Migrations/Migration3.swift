import GRDB

/// Of every output also its pixels' digest, and what encoded them. Both are unknown of older outputs, and of adopted ones.
enum Migration3 {
    static func apply(_ database: Database) throws {
        try database.execute(
            sql: """
                -- JSON; many outputs have one in common.
                CREATE TABLE encodings (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
                ALTER TABLE outputs ADD COLUMN pixels_high INTEGER;
                ALTER TABLE outputs ADD COLUMN pixels_low INTEGER CHECK ((pixels_low IS NULL) = (pixels_high IS NULL));
                ALTER TABLE outputs ADD COLUMN encoding INTEGER REFERENCES encodings(id)
                    CHECK ((encoding IS NULL) = (pixels_high IS NULL));
                ALTER TABLE intents ADD COLUMN pixels_high INTEGER;
                ALTER TABLE intents ADD COLUMN pixels_low INTEGER CHECK ((pixels_low IS NULL) = (pixels_high IS NULL));
                ALTER TABLE intents ADD COLUMN encoding INTEGER REFERENCES encodings(id)
                    CHECK ((encoding IS NULL) = (pixels_high IS NULL));
                """)
    }
}
