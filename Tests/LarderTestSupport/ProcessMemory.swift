import Foundation

/// This process's memory, in bytes; throws if the system does not report it, since growth of nothing would prove
/// nothing.
public func residentMemory() throws -> (now: Int, highest: Int) {
  #if canImport(Darwin)
    var info = mach_task_basic_info()
    var count = mach_msg_type_number_t(MemoryLayout<mach_task_basic_info>.size / MemoryLayout<integer_t>.size)
    // The variable takes as many numbers as `count` says.
    let result = withUnsafeMutablePointer(to: &info) { pointer in
      pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
        task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
      }
    }
    guard result == KERN_SUCCESS else { throw UnknownMemory(key: "MACH_TASK_BASIC_INFO") }
    return (Int(info.resident_size), Int(info.resident_size_max))
  #else
    return try linuxMemory()
  #endif
}

#if os(Linux)
  /// This process's memory, as Linux reports it.
  private func linuxMemory() throws -> (now: Int, highest: Int) {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    func value(_ key: String) throws -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix("\(key):") } ?? ""
      guard let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
        throw UnknownMemory(key: key)
      }
      return kibibytes << 10
    }
    return (try value("VmRSS"), try value("VmHWM"))
  }
#endif

/// The system does not report how much memory a process has.
private struct UnknownMemory: Error {
  let key: String
}
