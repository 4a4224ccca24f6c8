import CVips

/// A file in memory without a name. This process can open it by its number, even where it may open no other files.
enum MemoryFile {
    /// - Returns: its descriptor; −1 with `errno` if there is none.
    static func create() -> Int32 { penumbra_memory_file() }
}
