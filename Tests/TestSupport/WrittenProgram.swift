import Foundation

/// Writes a script that this process can execute at once.
///
/// A child process writes it. If this process had the file open for writing, a child that another test starts at that moment
/// could have it open, too, until it executes its own program. The kernel executes no file that somebody can write (ETXTBSY).
package func writeProgram(_ script: String, to path: String) throws {
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", #"printf %s "$1" > "$2" && chmod 755 "$2""#, "sh", script, path]
    try shell.run()
    shell.waitUntilExit()
    guard shell.terminationStatus == 0 else { throw UnwrittenProgramError(path: path) }
}

private struct UnwrittenProgramError: Error {
    let path: String
}
