import Testing

@testable import LarderService

@Suite("The CSRF token", .timeLimit(.minutes(5)))
struct CSRFStateMachineTests {
  @Test("automatic: no token until the service requires one, then always")
  func automatic() {
    var machine = CSRFStateMachine(mode: .automatic)
    #expect(machine.beforeSending() == .send(token: nil))
    #expect(machine.afterRejection(of: nil, isReplay: false) == .fetch)
    #expect(machine.beforeSending() == .fetch, "those who come meanwhile fetch too")
    machine.received("T1")
    #expect(machine.beforeSending() == .send(token: "T1"))
    #expect(machine.afterRejection(of: "T1", isReplay: false) == .fetch)
    machine.received("T2")
    #expect(machine.afterRejection(of: "T1", isReplay: false) == .send(token: "T2"), "another fetched it meanwhile")
    #expect(machine.afterRejection(of: "T2", isReplay: true) == .deliver, "one replay")
    machine.sessionChanged()
    #expect(machine.beforeSending() == .fetch)
  }

  @Test("always: the token is fetched before the first change; never: a rejection is returned")
  func otherModes() {
    var always = CSRFStateMachine(mode: .always)
    #expect(always.beforeSending() == .fetch)
    always.received("T")
    #expect(always.beforeSending() == .send(token: "T"))
    var never = CSRFStateMachine(mode: .never)
    #expect(never.beforeSending() == .send(token: nil))
    #expect(never.afterRejection(of: nil, isReplay: false) == .deliver)
  }

  @Test("which responses are rejections, and which fields are tokens")
  func fields() {
    #expect(CSRFStateMachine.isRejection(status: 403, field: "Required"))
    #expect(CSRFStateMachine.isRejection(status: 403, field: "required"))
    #expect(!CSRFStateMachine.isRejection(status: 403, field: nil))
    #expect(!CSRFStateMachine.isRejection(status: 400, field: "Required"))
    #expect(CSRFStateMachine.token(in: "abc==") == "abc==")
    #expect(CSRFStateMachine.token(in: "Required") == nil)
    #expect(CSRFStateMachine.token(in: "") == nil)
    #expect(CSRFStateMachine.token(in: nil) == nil)
  }
}
