//! The controllers: gather facts, decide by the rules, act, report. No rule lives here.
