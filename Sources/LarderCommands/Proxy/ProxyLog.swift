internal import LarderHTTP
internal import LarderServer

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Logs one line for each request.
struct ProxyLog: Sendable {
  private let lines: LineLog
  private let asJSON: Bool

  init(_ lines: LineLog, asJSON: Bool) {
    self.lines = lines
    self.asJSON = asJSON
  }

  func write(_ record: ProxyRecord) {
    let line = ProxyLine(record, at: LogTime.now())
    lines.append(asJSON ? line.json : TerminalText.line(line.text))
  }

  func flush() async { await lines.flush() }
}

/// The log line of a request.
struct ProxyLine {
  private let record: ProxyRecord
  private let time: LogTime

  init(_ record: ProxyRecord, at time: LogTime) {
    self.record = record
    self.time = time
  }

  /// The line as text: time, client, method, target, status, bytes of content, milliseconds, the result of the cache.
  var text: String {
    let target = record.target.isEmpty ? "-" : record.target
    let broken = record.isComplete ? "" : " broken"
    return "\(time.text) \(record.client) \(record.method) \(target) \(record.status) \(record.contentBytes)"
      + " \(milliseconds)ms \(record.cacheStatus)\(broken)"
  }

  /// The line as a JSON object.
  var json: String {
    #"{"time":"\#(time.text)","client":"\#(record.client)","method":\#(ProxyLine.quoted(record.method.rawValue)),"#
      + #""target":\#(ProxyLine.quoted(record.target)),"status":\#(record.status),"bytes":\#(record.contentBytes),"#
      + #""milliseconds":\#(milliseconds),"cache":"\#(record.cacheStatus)","complete":\#(record.isComplete)}"#
  }

  /// The milliseconds with three decimals.
  private var milliseconds: String {
    let (seconds, attoseconds) = record.duration.components
    let micros = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    let rest = String(micros % 1000)
    return "\(micros / 1000)." + String(repeating: "0", count: max(0, 3 - rest.count)) + rest
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
