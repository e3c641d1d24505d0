"""Whether a release keeps what it promises and resembles what it stands for."""
