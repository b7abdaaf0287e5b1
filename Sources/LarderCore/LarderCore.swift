// The types that all targets share.
//
// 1. `Locked` and `Exclusive` are the only locks of the project (Locked.swift). In debug builds `LockNesting` ends a process that
//    enters one lock inside another.
// 2. `LarderError` is the protocol of all public errors: a stable number, and an `ErrorExplanation` for people
//    (LarderError.swift). It passes both on to Foundation: `localizedDescription`, `recoverySuggestion`, domain and code.
// 3. `LarderEnvironment` is time, random numbers and tasks (LarderEnvironment.swift). Stores take all three from it, so that a
//    test controls them and a run can be repeated.
//    `ApplicationFolders`, which is part of it, says where stores without a path keep their files.
// 4. `LarderDiagnostic` is what stores report besides errors, all through a hook `onDiagnostic` (LarderDiagnostic.swift). Each
//    store's module declares its names in an enum, a `DiagnosticName`.
// 5. `Hexadecimal`, `Base64` and `GregorianCalendar` convert digits and dates. `DetachedThread` is for work that blocks for long.
