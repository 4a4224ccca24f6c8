import Foundation
package import Glibc

/// The processes that any thread of a process has started, and that live.
package func children(of process: pid_t) -> [pid_t] {
    let tasks = "/proc/\(process)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return threads.flatMap { thread in
        let text = (try? String(contentsOfFile: "\(tasks)/\(thread)/children", encoding: .utf8)) ?? ""
        return text.split(separator: " ").compactMap { pid_t($0) }
    }
}

/// True while the process lives, a zombie not counted.
package func isAlive(_ process: pid_t) -> Bool {
    let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    guard let state = text.split(separator: ")").last?.split(separator: " ").first else { return false }
    return state != "Z"
}
