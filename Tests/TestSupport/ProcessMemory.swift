import Foundation

/// This process's memory, in bytes; throws where the system does not tell, since growth of nothing would prove nothing.
public func residentMemory() throws -> (now: Int, highest: Int) {
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

/// The system does not tell how much memory a process has.
private struct UnknownMemory: Error {
  let key: String
}
