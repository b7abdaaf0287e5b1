import LarderHTTP
import Testing

@testable import LarderService

@Suite("Retries", .timeLimit(.minutes(5)))
struct RetryTests {
  typealias Machine = RetryStateMachine

  static func machine(_ repeatability: HTTPRetryPolicy.Repeatability = .always, attempts: Int = 4) -> Machine {
    Machine(policy: HTTPRetryPolicy(attemptLimit: attempts), repeatability: repeatability, start: .zero)
  }

  @Test("waits double up to the limit, and full jitter shortens them by any part")
  func backOff() {
    var machine = Machine(
      policy: HTTPRetryPolicy(
        attemptLimit: 7, baseDelay: .seconds(1), delayLimit: .seconds(5), totalTimeLimit: .seconds(1000)),
      repeatability: .always, start: .zero)
    var waits: [Machine.Action] = []
    for random in [UInt64.max, .max, .max, .max, 0, 1 << 63, .max] {
      waits.append(
        machine.after(.status(503, retryAfter: nil), now: .seconds(1), unixTime: 0, random: random))
    }
    let full = 1 - 1 / Double(1 << 53)
    #expect(
      waits == [
        .wait(.seconds(1) * full), .wait(.seconds(2) * full), .wait(.seconds(4) * full), .wait(.seconds(5) * full),
        .wait(.zero), .wait(.seconds(2.5)), .deliver,
      ])
  }

  @Test("downloads and uploads wait for a service that responds, and only briefly for one that cannot be reached")
  func background() {
    func waits(_ outcome: Machine.Outcome, _ policy: HTTPRetryPolicy) -> [Machine.Action] {
      var machine = Machine(policy: policy, repeatability: .always, start: .zero)
      return (0..<8).map { _ in machine.after(outcome, now: .zero, unixTime: 0, random: 1 << 63) }
    }
    let gone = Machine.Outcome.transport(.cannotConnect(host: "h", reason: ""))
    let brief = [0.125, 0.25, 0.5].map { Machine.Action.wait(.seconds($0)) }
    #expect(waits(gone, .background) == brief + Array(repeating: .deliver, count: 5))
    #expect(waits(.status(503, retryAfter: nil), .background).count { $0 != .deliver } == 7)
    #expect(waits(gone, HTTPRetryPolicy(attemptLimit: 8)).count { $0 != .deliver } == 7)
  }

  @Test(
    "which requests are repeated, by outcome and repeatability",
    arguments: [
      // Not executed: RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4.
      (Machine.Outcome.status(408, retryAfter: nil), [true, true, true]),
      (.status(425, retryAfter: nil), [true, true, true]),
      (.status(429, retryAfter: nil), [true, true, true]),
      (.status(500, retryAfter: nil), [false, false, false]),
      (.status(502, retryAfter: nil), [true, false, false]),
      (.status(503, retryAfter: nil), [true, true, false]),
      (.status(504, retryAfter: nil), [true, false, false]),
      (.status(404, retryAfter: "1"), [false, false, false]),
      (.transport(.cannotConnect(host: "h", reason: "")), [true, true, false]),
      (.transport(.hostNotFound(host: "h")), [true, true, false]),
      (.transport(.connectionLost(reason: "")), [true, false, false]),
      (.transport(.timeout(phase: "idle")), [true, false, false]),
      (.transport(.tls(host: "h", reason: "")), [false, false, false]),
      (.transport(.cancelled), [false, false, false]),
      (.transport(.bodyTooLarge(limit: 1)), [false, false, false]),
    ])
  func outcomes(outcome: Machine.Outcome, repeated: [Bool]) {
    for (repeatability, expected) in zip([HTTPRetryPolicy.Repeatability.always, .ifUntouched, .never], repeated) {
      var machine = Self.machine(repeatability)
      let action = machine.after(outcome, now: .zero, unixTime: 0, random: 0)
      #expect((action == .wait(.zero)) == expected, "\(repeatability)")
    }
  }

  @Test(
    "only idempotent methods are repeated, and changes with an ETag only if they were not executed (RFC 9110 §9.2.2)",
    arguments: [
      (HTTPMethod.get, false, HTTPRetryPolicy.Repeatability.always), (.head, false, .always), (.put, false, .always),
      (.delete, false, .always), (.put, true, .ifUntouched), (.delete, true, .ifUntouched), (.post, false, .never),
      (.patch, false, .never), (.merge, true, .never),
    ])
  func methods(method: HTTPMethod, isConditional: Bool, expected: HTTPRetryPolicy.Repeatability) {
    #expect(HTTPRetryPolicy.Repeatability(method: method, isConditional: isConditional) == expected)
  }

  @Test(
    "Retry-After as seconds and as the three forms of a date (RFC 9110 §10.2.3, §5.6.7)",
    arguments: [
      ("0", Duration.zero), ("120", .seconds(120)), ("99999999999999999999", .seconds(366 * 86_400)),
      ("Sun, 06 Nov 1994 08:49:37 GMT", .seconds(37)), ("Sunday, 06-Nov-94 08:49:37 GMT", .seconds(37)),
      ("Sun Nov  6 08:49:37 1994", .seconds(37)), ("Sun, 06 Nov 1994 08:48:37 GMT", .zero),
      ("soon", nil), ("", nil), ("-5", nil), ("Sun, 31 Feb 1994 08:49:37 GMT", nil),
    ] as [(String, Duration?)])
  func retryAfter(field: String, expected: Duration?) {
    #expect(RetryAfter.delay(field, unixTime: 784_111_740) == expected)
  }

  @Test(
    "a failed read is repeated whatever the failure, but a failure that may remain only twice; 501, 505, 510 and 511 remain",
    arguments: [
      (500, 2), (502, 6), (503, 6), (504, 6), (507, 2), (520, 2), (524, 2), (599, 2), (501, 0), (505, 0), (510, 0),
      (511, 0),
      (404, 0), (408, 6), (429, 6),
    ])
  func failedReads(status: Int, repetitions: Int) {
    var machine = Machine(
      policy: HTTPRetryPolicy(attemptLimit: 7), repeatability: .always, isSafe: true, start: .zero)
    var count = 0
    while machine.after(.status(status, retryAfter: nil), now: .zero, unixTime: 0, random: 0) == .wait(.zero) {
      count += 1
    }
    #expect(count == repetitions)
  }

  @Test("a Retry-After is respected; one beyond the total time, or beyond its own limit, ends the retries")
  func keepsRetryAfter() {
    var machine = Self.machine()
    #expect(
      machine.after(.status(503, retryAfter: "7"), now: .zero, unixTime: 0, random: .max) == .wait(.seconds(7)))
    #expect(machine.after(.status(503, retryAfter: "60"), now: .seconds(7), unixTime: 0, random: 0) == .deliver)
    #expect(machine.after(.status(503, retryAfter: nil), now: .seconds(61), unixTime: 0, random: 0) == .deliver)
    var patient = Machine(policy: .background, repeatability: .never, start: .zero)
    #expect(patient.after(.status(429, retryAfter: "300"), now: .zero, unixTime: 0, random: 0) == .wait(.seconds(300)))
    #expect(patient.after(.status(429, retryAfter: "301"), now: .zero, unixTime: 0, random: 0) == .deliver)
  }

  @Test(
    "a Retry-After with a date counts from the date of the response, because the clocks may differ (RFC 9110 §10.2.3)")
  func responseDate() {
    var machine = Self.machine()
    let outcome = Machine.Outcome.status(
      429, retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:30 GMT")
    #expect(machine.after(outcome, now: .zero, unixTime: 1_000_000_000, random: 0) == .wait(.seconds(7)))
    let undated = Machine.Outcome.status(429, retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT", date: "now")
    #expect(machine.after(undated, now: .zero, unixTime: 784_111_740, random: 0) == .wait(.seconds(37)))
  }
}
