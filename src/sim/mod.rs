//! A world behind the same ports: virtual time, a seeded executor, agents, operators.
